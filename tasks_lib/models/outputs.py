"""Replies of the two OpenAI APIs turned into model outputs, and what makes one malformed.

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
from tasks_lib.models.usage import token_usage
from tasks_lib.secrets import redact
from tasks_lib.trace import is_thought, output_text


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
        raise _malformed(f"the reply is no JSON: {text!r}") from None


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


def chat_output(data: Any) -> ModelOutput:
    """Return the model output of a chat completion, OpenAI's form or the task language's.

    Null content becomes `""` where something else says why there is no text (a refusal,
    reasoning, tool calls, a finish reason other than `stop`); with nothing at all the reply
    is malformed. Tool calls make the output one of Open Responses items.

    Raises:
        CallFailure: no choices, nothing in the first one, or parts of a wrong kind; retryable.
    """
    reject_error(data)
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        raise _malformed("the reply has no choices")
    kept = [_choice(choice) for choice in choices]
    first = choices[0]
    message = first["message"]
    finish = _reason(first.get("finish_reason"))
    usage, counts = token_usage(data.get("usage"))
    if calls := message.get("tool_calls"):
        items = [*_said_items(kept[0]["message"]), *_call_items(calls)]
        return ModelOutput({"items": items, "usage": usage}, finish, *counts)
    if message.get("content") is None and finish in (None, "stop") and not _excuse(message):
        raise _malformed("the reply is empty")
    return ModelOutput({"choices": kept, "usage": usage}, finish, *counts)


def _malformed(problem: str) -> CallFailure:
    return CallFailure("model", problem, retryable=True)


def _reason(finish: Any) -> str | None:
    return storable(finish) if isinstance(finish, str) else None


def _choice(choice: Any) -> dict[str, Any]:
    message = choice.get("message") if isinstance(choice, dict) else None
    reject_error(choice)
    if not isinstance(message, dict):
        raise _malformed("the reply's choice has no message")
    kept: dict[str, Any] = {
        "role": message.get("role") or "assistant",
        "content": _text(message.get("content")),
        "refusal": message.get("refusal"),
    }
    if reasoning := _reasoning(message):
        kept["reasoning_content"] = reasoning
    result: dict[str, Any] = {"message": kept}
    if (finish := choice.get("finish_reason")) is not None:
        result["finish_reason"] = finish
    if (references := choice.get("references")) is not None:
        result["references"] = references
    return result


def _text(content: Any) -> str:
    """The text of a message's content: as it is, or of its parts; null is no text."""
    if content is None:
        return ""
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        return "".join(part for part in parts if isinstance(part, str))
    if isinstance(content, str):
        return content
    raise _malformed(f"the reply's content is no text: {bounded(str(content), 80)!r}")


def _reasoning(message: dict[str, Any]) -> Any:
    return message.get("reasoning_content") or message.get("reasoning")


def _excuse(message: dict[str, Any]) -> bool:
    return bool(message.get("refusal") or _reasoning(message))


def _said_items(message: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said beside tool calls; reasoning comes first, as a message of its own."""
    items = []
    if isinstance(reasoning := message.get("reasoning_content"), str):
        items.append(_message([{"type": "reasoning_text", "text": reasoning}]))
    if text := message["content"]:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": None}
        items.append(_message([part]))
    return items


def _message(content: list[dict[str, Any]], item_id: str = "") -> dict[str, Any]:
    return {
        "type": "message",
        "id": item_id,
        "status": "completed",
        "role": "assistant",
        "content": content,
    }


def _call_items(calls: Any) -> list[dict[str, Any]]:
    if not isinstance(calls, list):
        raise _malformed("the reply's tool calls are no list")
    items = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise _malformed("the reply has a tool call without a function")
        arguments = function.get("arguments") or "{}"
        items.append(
            {
                "type": "function_call",
                "id": "",
                "call_id": call.get("id") or "",
                "name": function["name"],
                "arguments": arguments if isinstance(arguments, str) else dumps(arguments),
                "status": "completed",
            }
        )
    return items


def responses_output(data: Any) -> ModelOutput:
    """Return the model output of a Responses reply: its items, with usage.

    Reasoning items with text become an assistant message of their own before the answer, so
    that the answer's text stays clean; other kinds of items are dropped.

    Raises:
        CallFailure: an error inside, or no output at all; retryable.
    """
    reject_error(data)
    output = data.get("output") if isinstance(data, dict) else None
    if not isinstance(output, list) or not output:
        raise _malformed("the reply has no output")
    items = [item for raw in output if (item := _response_item(raw)) is not None]
    if all(map(is_thought, items)):
        items.append(_message([]))  # the answer that did not come: thoughts are none
    usage, counts = token_usage(data.get("usage"))
    details = data.get("incomplete_details")
    finish = _reason(details.get("reason")) if isinstance(details, dict) else None
    if finish == "max_output_tokens":
        finish = "length"
    if finish is None and data.get("status") == "completed":
        called = any(item["type"] == "function_call" for item in items)
        finish = "tool_calls" if called else "stop"
    raw = {"items": items, "usage": usage}
    if details:
        raw["incomplete_details"] = details
    return ModelOutput(raw, finish, *counts)


def _response_item(item: Any) -> dict[str, Any] | None:
    kind = item.get("type") if isinstance(item, dict) else None
    if kind == "message":
        return {
            "type": "message",
            "id": item.get("id") or "",
            "status": item.get("status") or "completed",
            "role": item.get("role") or "assistant",
            "content": item.get("content") or [],
        }
    if kind == "function_call":
        arguments = item.get("arguments") or "{}"
        return {
            "type": "function_call",
            "id": item.get("id") or "",
            "call_id": item.get("call_id") or "",
            "name": item.get("name") or "",
            "arguments": arguments if isinstance(arguments, str) else dumps(arguments),
            "status": item.get("status") or "completed",
        }
    if kind == "reasoning":
        lists = [
            parts for name in ("summary", "content") if isinstance(parts := item.get(name), list)
        ]
        texts = [part.get("text") for parts in lists for part in parts if isinstance(part, dict)]
        thoughts = [{"type": "reasoning_text", "text": text} for text in texts if text]
        return _message(thoughts, item.get("id") or "") if thoughts else None
    return None
