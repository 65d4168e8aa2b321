"""A conversation that message builders extend step by step."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import SolverContext
from tasks_lib.trace import (
    SolverTrace,
    Trace,
    is_thought,
    items_to_messages,
    items_to_model_input,
)

MAX_STEPS = 10_000
"""Builders that one conversation may run; loops in loops could go on for ever."""


@dataclass(slots=True)
class Conversation:
    """What was said so far, and what builders need to go on.

    Attributes:
        sample: the sample it is about.
        context: the way to models.
        items: trace items in order, of this conversation alone; only ever appended to, and
            cut by `drop_from`.
        raw_outputs: outputs of the evaluated model, those of dropped messages included.
        loop_index: zero-based iteration of the innermost loop; None outside loops.
        ended_by: why it ended before its builders were done, where no condition says it.
    """

    sample: Sample
    context: SolverContext
    items: list[dict[str, Any]] = field(default_factory=list)
    raw_outputs: list[Any] = field(default_factory=list)
    loop_index: int | None = None
    ended_by: str | None = None
    _steps: int = 0
    _heard: list[dict[str, Any]] = field(default_factory=list)
    _converted: int = 0  # so many items are in `_heard`: a long conversation is read once

    def variables(self) -> Mapping[str, Any]:
        """What templates see: `sample`, `messages`, and inside a loop `loop_index`."""
        seen: dict[str, Any] = {"sample": self.sample.data, "messages": self.messages()}
        if self.loop_index is not None:
            seen["loop_index"] = self.loop_index
        return seen

    def messages(self) -> list[dict[str, Any]]:
        """The conversation as chat messages, new ones at every call.

        What a model only thought is not among them: nobody else has heard that.
        """
        new = [item for item in self.items[self._converted :] if not is_thought(item)]
        self._heard += items_to_messages(new)
        self._converted = len(self.items)
        return [message.copy() for message in self._heard]

    def model_input(self, extra: Sequence[dict[str, Any]] = ()) -> Any:
        """The conversation as a model's input, followed by `extra` items."""
        messages = self.messages() + items_to_messages([*extra])
        return {"messages": messages} if messages else items_to_model_input(self.items)

    def drop_from(self, start: int) -> None:
        """Take back all items from `start` on."""
        del self.items[start:]
        self._heard, self._converted = [], 0

    @contextmanager
    def iteration(self, index: int) -> Iterator[None]:
        """Be in iteration `index` of a loop while the block runs."""
        outer, self.loop_index = self.loop_index, index
        try:
            yield
        finally:
            self.loop_index = outer

    def count_step(self) -> None:
        """Count a builder that is run.

        Raises:
            SampleError: there were more than a conversation may have.
        """
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise SampleError(
                "data",
                f"the conversation takes more than {MAX_STEPS:,} steps",
                fix="lower 'max_iterations'",
            )

    def as_output(self) -> SolverTrace:
        """Return the conversation as a solver's output."""
        told: dict[str, Any] = {}
        if self.ended_by is not None:
            told["metadata"] = {"extra": {"ended_by": self.ended_by}}
        return SolverTrace(Trace.from_items(self.items, **told), self.raw_outputs)
