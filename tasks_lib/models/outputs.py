"""Model outputs: what a reply comes to, and what makes one malformed.

What each kind of reply comes to. "Again" is asked for again, up to five times in all, never
recorded, and in the end an error row of the class that is named.

| reply | comes to |
|---|---|
| no connection, reset, cut off by the transport, no answer in time | again, `infra` |
| 408, 409, 425, 429, 5xx; gzip that is none | again, `infra` |
| 429 for want of credit, 401, 402, 403, 404, other 4xx | `infra` at once |
| a redirect, which is not followed: it would take keys elsewhere | `infra` at once |
| more than 64 MiB, unpacked | `model` at once |
| 400, 413, 422: a prompt too long, filtered, not understood | `model` at once |
| 200 with an `error` object | again, `infra` |
| 200 with HTML, half of the JSON, nothing, bytes that are not UTF-8 | again, `model` |
| no `choices` or `output`, a choice without message | again, `model` |
| null content that nothing explains | again, `model` |
| JSON under another content type, or after a byte order mark | scored |
| no `usage` | scored; tokens count as 0, its cost is unknown; a warning |
| `""` or white space | scored as it is; a warning: empty |
| finish reason `length` | scored as it is; a warning: truncated |
| the same without visible text | scored as empty text; a warning: truncated with no answer |
| `content_filter`, a refusal | scored as the text there is; a warning: refused |
| reasoning only | scored as empty text, thoughts kept apart; a warning: reasoning only |
| tool calls only | scored by what looks at calls; no text for scorers of texts |

A model that brings nothing but failures, or is cut off before each answer, ends the run after
five calls (`circuit.py`).
"""

from dataclasses import dataclass
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.jsontext import dumps, loads, storable
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.secrets import redact
from tasks_lib.trace import output_text


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A reply as solvers see it.

    Attributes:
        raw: the model output as plain JSON, one of the shapes a trace knows.
        finish_reason: why the model stopped; None when it did not say.
        input_tokens: prompt tokens; 0 when the reply does not count them.
        output_tokens: completion tokens, reasoning included; 0 when the reply does not count
            them.
        cached_tokens: of the prompt tokens, those from the provider's cache.
        reasoning_tokens: of the completion tokens, those that were reasoning.
        counted: whether the reply counts both prompt and completion.
    """

    raw: Any
    finish_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0
    counted: bool = False


def cut_before_answer(output: ModelOutput) -> bool:
    """Return whether a reply ends at the token limit and shows nothing of an answer yet."""
    if output.finish_reason != "length":
        return False
    items = output.raw.get("items") if isinstance(output.raw, dict) else None
    if any(item.get("type") == "function_call" for item in items or ()):
        return False
    return not (output_text(output.raw) or "").strip()


def read_json(body: bytes) -> Any:
    """Return the JSON value of a reply's body.

    Raises:
        CallFailure: it is none (cut off, HTML, wrong encoding); retryable.
    """
    try:
        return loads(body)
    except ValueError:
        text = bounded(redact(body.decode("utf-8", "replace")), 80)
        raise malformed(f"the reply is no JSON: {text!r}") from None


def reject_error(data: Any) -> None:
    """Refuse a reply with status 200 that carries an error instead of an answer.

    An `error` that is a number or a list is an answer of a custom model.

    Raises:
        CallFailure: it does; retryable.
    """
    error = data.get("error") if isinstance(data, dict) else None
    if error and isinstance(error, dict | str):
        words = error.get("message") or error if isinstance(error, dict) else error
        raise CallFailure(
            "infra", f"the reply holds an error: {bounded(redact(str(words)))}", retryable=True
        )


def malformed(problem: str) -> CallFailure:
    """Return the failure of a reply that is no answer; the next may be one."""
    return CallFailure("model", problem, retryable=True)


def text_or_none(finish_reason: Any) -> str | None:
    """Return a finish reason as it can be stored; None for what is no text."""
    return storable(finish_reason) if isinstance(finish_reason, str) else None


def thought_item(texts: list[str], item_id: str = "") -> dict[str, Any]:
    """Return reasoning as an assistant's message of its own, so that answers stay clean."""
    return {
        "type": "message",
        "id": item_id,
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "reasoning_text", "text": text} for text in texts],
    }


def call_item(
    name: str, arguments: Any, call_id: Any, item_id: Any = "", status: Any = "completed"
) -> dict[str, Any]:
    """Return a function's call as an item; arguments that are no text become JSON."""
    arguments = arguments or "{}"
    return {
        "type": "function_call",
        "id": item_id or "",
        "call_id": call_id or "",
        "name": name,
        "arguments": arguments if isinstance(arguments, str) else dumps(arguments),
        "status": status or "completed",
    }
