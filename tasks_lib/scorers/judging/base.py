"""What judge scorers have in common: a model, two prompts, one verdict a row."""

from abc import ABC, abstractmethod
from typing import Any

from tasks_lib.definitions.keys import ModelReference
from tasks_lib.models.predictor import Predictor
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.judging.asking import MOST_ASKS, JudgeCalls
from tasks_lib.scorers.judging.kinds import Wanted
from tasks_lib.scorers.judging.protocol import judge_input
from tasks_lib.scorers.judging.verdicts import Verdict
from tasks_lib.scorers.score import Row, Score
from tasks_lib.solvers.call_range import CallRange
from tasks_lib.templates import TemplateSource


class JudgeScorer(ModelScorer, ABC):
    """Puts each row to a model and scores what it says.

    Prompts see `sample`; with a solver also `trace`, `model_outputs` and `solver_output`, and
    the older `model_output`, `messages` and `input_prompt`. The judge's calls are kept with
    the score, as `judge_calls` in its metadata.
    """

    model_key: ModelReference
    """The model that is asked."""
    system_prompt: TemplateSource = (
        "You are a helpful assistant and will be used to judge the output of another model."
    )
    """Template of the system message; unless outputs are structured, the form of the answer is
    described after it."""
    user_prompt: TemplateSource
    """Template of the user message, such as `{{ trace.get_last_assistant_text() }}`."""
    use_structured_outputs: bool = False
    """Whether the model is held to the form of the answer by JSON Schema; recommended where it
    can be."""

    @property
    def asked_model(self) -> str:
        return self.model_key

    @property
    def calls_per_row(self) -> CallRange:
        return CallRange(1, MOST_ASKS)

    @property
    @abstractmethod
    def wanted(self) -> Wanted:
        """What the judge is asked for."""

    @abstractmethod
    def scored(self, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the scores and the metadata that a verdict gives."""

    async def ask(self, row: Row, calls: Predictor) -> Score:
        kind = self.wanted
        chat_input = judge_input(
            row,
            self.system_prompt,
            self.user_prompt,
            kind,
            structured=self.use_structured_outputs,
        )
        judge = JudgeCalls(calls, self.model_key)
        verdict = await judge.verdict(chat_input, kind)
        values, metadata = self.scored(verdict)
        return Score(values, {**metadata, "judge_calls": judge.made})
