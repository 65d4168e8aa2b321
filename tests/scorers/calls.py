"""Conversations with function calls, for the scorers that read them."""

from typing import Any

from tasks_lib import jsontext
from tasks_lib.trace import SolverTrace, Trace, message_item


def call(name: str, arguments: Any = "{}", call_id: str = "c") -> dict[str, Any]:
    """A function call; arguments that are no text are written as JSON."""
    text = arguments if isinstance(arguments, str) else jsontext.dumps(arguments)
    return {
        "type": "function_call",
        "id": "",
        "call_id": call_id,
        "name": name,
        "arguments": text,
        "status": "completed",
    }


def answered(name: str, output: Any, call_id: str = "c") -> list[dict[str, Any]]:
    """A function call and what the function answered."""
    reply = {"type": "function_call_output", "id": "", "call_id": call_id, "output": output}
    return [call(name, call_id=call_id), {**reply, "status": "completed"}]


def talked(*items: dict[str, Any], before: tuple[dict[str, Any], ...] = ()) -> SolverTrace:
    """A conversation: `before` the first user message, and the `items` that answer it."""
    return SolverTrace(Trace(items=[*before, message_item("user", "Do it."), *items]))
