"""Rows for the scorer tests."""

from typing import Any

from tasks_lib.scorers.score import Row
from tasks_lib.trace import SolverTrace, Trace, message_item


def chat(content: Any, finish_reason: str = "stop", **message: Any) -> dict[str, Any]:
    """A chat completion as adapters leave it."""
    return {
        "choices": [
            {
                "message": {"role": "assistant", "content": content, **message},
                "finish_reason": finish_reason,
            }
        ]
    }


def items(*content: dict[str, Any], status: str = "completed") -> dict[str, Any]:
    """An Open Responses output of one assistant message of these parts."""
    message = {"type": "message", "id": "", "status": status, "role": "assistant"}
    return {"items": [{**message, "content": list(content)}]}


def solved(*raw_outputs: Any, said: str | None = None) -> SolverTrace:
    """What a solver left; `said` is the last assistant message of its trace."""
    conversation = [message_item("user", "Capital of France?")]
    if said is not None:
        conversation.append(message_item("assistant", said))
    return SolverTrace(Trace(items=conversation), raw_outputs=list(raw_outputs))


def row(solver_output: SolverTrace | None = None, **sample: Any) -> Row:
    """One row; the target is Paris unless the sample says otherwise."""
    return Row({"target": "Paris", **sample}, solver_output)
