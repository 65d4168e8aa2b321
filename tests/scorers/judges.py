"""A judge that says what a test tells it to."""

import asyncio
from collections.abc import Iterable
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.score import Row, Score
from tests.scorers.rows import chat

Reply = str | dict[str, Any] | ModelOutput | SampleError


class Judge:
    """Answers calls with the given replies in turn; the last one again and again.

    Attributes:
        asked: the model inputs, in order.
    """

    def __init__(self, *replies: Reply) -> None:
        self.asked: list[Any] = []
        self.models: list[str] = []
        self._replies = list(replies)

    async def predict(self, model_key: str, model_input: Any) -> ModelOutput:
        self.asked.append(model_input)
        self.models.append(model_key)
        reply = self._replies[0] if len(self._replies) == 1 else self._replies.pop(0)
        if isinstance(reply, SampleError):
            raise reply
        if isinstance(reply, ModelOutput):
            return reply
        return ModelOutput(chat(reply) if isinstance(reply, str) else reply, "stop")

    @property
    def prompts(self) -> list[tuple[str, str]]:
        """System and user message of each call."""
        return [
            (asked["messages"][0]["content"], asked["messages"][1]["content"])
            for asked in self.asked
        ]


def scored(scorer: ModelScorer, row: Row, judge: Judge) -> Score:
    """What a scorer makes of a row."""
    return asyncio.run(scorer.score(row, judge))


def outcomes(scorer: ModelScorer, row: Row, replies: Iterable[Reply]) -> list[Score | SampleError]:
    """What a scorer makes of a row for each of some replies, said as often as it is asked."""
    found: list[Score | SampleError] = []
    for reply in replies:
        try:
            found.append(scored(scorer, row, Judge(reply)))
        except SampleError as error:
            found.append(error)
    return found
