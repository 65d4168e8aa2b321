"""`pass_through_solver`: a recorded conversation stands for the answer; no model is called."""

from typing import Any, ClassVar, Literal

from tasks_lib.samples import Sample
from tasks_lib.solvers.base import ConversationSolver
from tasks_lib.solvers.recorded import recorded_trace
from tasks_lib.trace import SolverTrace


class PassThroughSolver(ConversationSolver):
    """Reads the trace that a column of the dataset holds."""

    calls_models: ClassVar[bool] = False

    type: Literal["pass_through_solver"]
    trace_column: str
    """Column with a trace: an object with `items`, a list of items, or JSON text of either."""

    def replay(self, sample: Sample) -> SolverTrace:
        trace = recorded_trace(sample.data, self.trace_column)
        return SolverTrace(trace, _last_turn_output(trace.raw_items))


def _last_turn_output(items: list[dict[str, Any]]) -> list[Any]:
    """All but the user's side of the last turn as one model output; none without a message.

    Scorers that look at the last model output then find the last assistant message.
    """
    start = next((i for i in range(len(items), 0, -1) if _role(items[i - 1]) == "user"), None)
    if start is None:
        return []
    answer = [item for item in items[start:] if _role(item) not in ("system", "developer")]
    return [{"items": answer}] if any(_role(item) == "assistant" for item in answer) else []


def _role(item: dict[str, Any]) -> str | None:
    return item["role"] if item["type"] == "message" else None
