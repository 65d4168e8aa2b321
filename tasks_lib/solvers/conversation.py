"""A conversation that message builders extend step by step."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tasks_lib.samples import Sample
from tasks_lib.solvers.base import SolverContext
from tasks_lib.trace import SolverTrace, Trace, items_to_messages, items_to_model_input


@dataclass(slots=True)
class Conversation:
    """What was said so far, and what builders need to go on.

    Attributes:
        sample: the sample it is about.
        context: the way to models.
        items: trace items in order.
        raw_outputs: outputs of the evaluated model, dropped messages included.
        loop_index: zero-based iteration of the innermost loop; None outside loops.
    """

    sample: Sample
    context: SolverContext
    items: list[dict[str, Any]] = field(default_factory=list)
    raw_outputs: list[Any] = field(default_factory=list)
    loop_index: int | None = None

    def variables(self) -> Mapping[str, Any]:
        """What templates see: `sample`, `messages`, and inside a loop `loop_index`."""
        seen: dict[str, Any] = {
            "sample": self.sample.data,
            "messages": items_to_messages(self.items),
        }
        if self.loop_index is not None:
            seen["loop_index"] = self.loop_index
        return seen

    def model_input(self, extra: Sequence[dict[str, Any]] = ()) -> dict[str, Any]:
        """The conversation as a chat input, followed by `extra` items."""
        chat: dict[str, Any] = items_to_model_input([*self.items, *extra])
        return chat

    @contextmanager
    def iteration(self, index: int) -> Iterator[None]:
        """Be in iteration `index` of a loop while the block runs."""
        outer, self.loop_index = self.loop_index, index
        try:
            yield
        finally:
            self.loop_index = outer

    def as_output(self) -> SolverTrace:
        """Return the conversation as a solver's output."""
        return SolverTrace(Trace.from_items(self.items), self.raw_outputs)
