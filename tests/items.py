"""Function calls as traces hold them."""

from typing import Any

from tasks_lib import jsontext


def call(name: str = "f", arguments: Any = "{}", call_id: str = "c") -> dict[str, Any]:
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


def answer(output: Any, call_id: str = "c") -> dict[str, Any]:
    """What a called function answered: a text, or a list of parts."""
    return {
        "type": "function_call_output",
        "id": "",
        "call_id": call_id,
        "output": output,
        "status": "completed",
    }
