"""Conversations with function calls, for the scorers that read them."""

from typing import Any

from tasks_lib.trace import SolverTrace, Trace, message_item
from tests.items import answer, call


def answered(name: str, output: Any, call_id: str = "c") -> list[dict[str, Any]]:
    """A function call and what the function answered."""
    return [call(name, call_id=call_id), answer(output, call_id)]


def talked(*items: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> SolverTrace:
    """A conversation: `before` the first user message, and the `items` that answer it."""
    return SolverTrace(Trace(items=[*before, message_item("user", "Do it."), *items]))
