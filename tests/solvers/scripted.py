"""Solvers of a test, and models that say what the test wants."""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter

from tasks_lib.models.outputs import ModelOutput
from tasks_lib.samples import Sample
from tasks_lib.solvers import Solver
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.trace import SolverTrace, Trace, items_to_messages

SOLVER: TypeAdapter[Any] = TypeAdapter(Solver)
Reply = str | ModelOutput | Exception


def solver(definition: Mapping[str, Any]) -> BaseSolver:
    """The solver that a task's `solver:` means."""
    made: BaseSolver = SOLVER.validate_python(definition)
    return made


def chat(content: str | None, finish: str | None = "stop", **message: Any) -> ModelOutput:
    """A chat completion as the models layer hands it on."""
    said = {"role": "assistant", "content": content or "", "refusal": None, **message}
    return ModelOutput({"choices": [{"message": said}], "usage": {}}, finish)


def items_output(*items: Mapping[str, Any], finish: str | None = "stop") -> ModelOutput:
    """An Open Responses output of these items."""
    return ModelOutput({"items": list(items), "usage": {}}, finish)


class Models:
    """Models by key: each says its replies in turn, or what a function makes of its input.

    Attributes:
        asked: (model, input, whether as a helper) of every call, in order.
    """

    def __init__(self, **replies: Iterable[Reply] | Callable[[Any], Reply]) -> None:
        self._replies = {
            key: said if callable(said) else iter(said) for key, said in replies.items()
        }
        self.asked: list[tuple[str, Any, bool]] = []

    async def predict(
        self, model_key: str, model_input: Any, *, auxiliary: bool = False
    ) -> ModelOutput:
        self.asked.append((model_key, model_input, auxiliary))
        await asyncio.sleep(0)
        replies = self._replies[model_key]
        reply = replies(model_input) if callable(replies) else next(replies, None)
        assert reply is not None, f"'{model_key}' was asked once more than foreseen"
        if isinstance(reply, Exception):
            raise reply
        return chat(reply) if isinstance(reply, str) else reply

    def texts(self, model_key: str) -> list[list[str]]:
        """Texts of the messages of every call of a model."""
        return [
            [message["content"] for message in model_input["messages"]]
            for key, model_input, _ in self.asked
            if key == model_key
        ]


def solve(
    definition: Mapping[str, Any] | BaseSolver, models: Models | None = None, **columns: Any
) -> SolverTrace:
    """Solve one sample with these columns; the evaluated model is `tested`."""
    made = definition if isinstance(definition, BaseSolver) else solver(definition)
    context = SolverContext("tested", models or Models())
    return asyncio.run(made.solve(Sample("s", 0, columns), context))


def conversation(output: SolverTrace) -> list[tuple[str, str]]:
    """Role and text of every message of a solver's output, which must be a valid trace."""
    Trace.load(output.trace.to_json(), strict=True)
    messages = items_to_messages(output.trace.raw_items)
    return [(message["role"], message["content"]) for message in messages]


def said(role: str, content: str, **more: Any) -> dict[str, Any]:
    """A `chat_message` builder."""
    return {"type": "chat_message", "role": role, "content": content, **more}


def helper(content: str = "Go on.", **more: Any) -> dict[str, Any]:
    """A `generate_message` builder that asks model `user` with one instruction."""
    extra = [said("user", content)]
    return {
        "type": "generate_message", "model_key": "user", "extra_input_messages": extra, **more
    }  # fmt: skip


def loop(*builders: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A `loop` builder."""
    return {"type": "loop", "message_builders": list(builders), **more}


GENERATE = {"type": "generate"}
DONE = {"includes": "<done>"}
"""A condition on which a conversation ends."""


def multi_turn(*builders: Mapping[str, Any]) -> dict[str, Any]:
    """A `multi_turn_solver`."""
    return {"type": "multi_turn_solver", "message_builders": list(builders)}
