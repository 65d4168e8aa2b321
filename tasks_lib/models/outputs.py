"""Replies of the two OpenAI APIs turned into model outputs, and what makes one malformed."""

from dataclasses import dataclass
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.jsontext import loads
from tasks_lib.models.connections.base import CallFailure


@dataclass(frozen=True, slots=True)
class ModelOutput:
    """A reply as solvers see it.

    Attributes:
        raw: the model output as plain JSON, one of the shapes a trace knows.
        finish_reason: why the model stopped; None when it did not say.
        input_tokens: prompt tokens; 0 when the reply does not count them.
        output_tokens: completion tokens; 0 when the reply does not count them.
    """

    raw: Any
    finish_reason: str | None = None
    input_tokens: int = 0
    output_tokens: int = 0


def read_json(body: bytes) -> Any:
    """Return the JSON value of a reply's body.

    Raises:
        CallFailure: it is none (cut off, HTML, wrong encoding); retryable.
    """
    try:
        return loads(body)
    except ValueError:
        text = bounded(body.decode("utf-8", "replace"), 80)
        raise CallFailure("model", f"the reply is no JSON: {text!r}", retryable=True) from None


def reject_error(data: Any) -> None:
    """Refuse a reply with status 200 that carries an error instead of an answer.

    Raises:
        CallFailure: it does; retryable.
    """
    error = data.get("error") if isinstance(data, dict) else None
    if error:
        words = error.get("message", error) if isinstance(error, dict) else error
        raise CallFailure(
            "infra", f"the reply holds an error: {bounded(str(words))}", retryable=True
        )


def chat_output(data: Any) -> ModelOutput:
    """Return the model output of a chat completion, OpenAI's form or the task language's.

    Null content becomes `""` where something else says why there is no text (a refusal,
    reasoning, tool calls, a finish reason other than `stop`); with nothing at all the reply
    is malformed. Tool calls make the output one of Open Responses items.

    Raises:
        CallFailure: no choices, or nothing in the first one; retryable.
    """
    reject_error(data)
    choices = data.get("choices") if isinstance(data, dict) else None
    if not isinstance(choices, list) or not choices:
        raise CallFailure("model", "the reply has no choices", retryable=True)
    kept = [_choice(choice) for choice in choices]
    first = choices[0]
    message = first["message"]
    finish = first.get("finish_reason")
    usage = _usage(data.get("usage"))
    counts = (usage.get("num_prompt_tokens") or 0, usage.get("num_completion_tokens") or 0)
    calls = message.get("tool_calls")
    if calls:
        items = _tool_items(kept[0]["message"]["content"], calls)
        return ModelOutput({"items": items, "usage": usage}, finish, *counts)
    if message.get("content") is None and finish in (None, "stop") and not _excuse(message):
        raise CallFailure("model", "the reply is empty", retryable=True)
    return ModelOutput({"choices": kept, "usage": usage}, finish, *counts)


def _choice(choice: Any) -> dict[str, Any]:
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(message, dict):
        raise CallFailure("model", "the reply's choice has no message", retryable=True)
    content = message.get("content")
    if isinstance(content, list):
        parts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(part for part in parts if isinstance(part, str))
    kept: dict[str, Any] = {
        "role": message.get("role") or "assistant",
        "content": "" if content is None else content,
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


def _reasoning(message: dict[str, Any]) -> Any:
    return message.get("reasoning_content") or message.get("reasoning")


def _excuse(message: dict[str, Any]) -> bool:
    return bool(message.get("refusal") or _reasoning(message))


def _tool_items(text: Any, calls: list[Any]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if text:
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": None}
        items.append(
            {
                "type": "message",
                "id": "",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    for call in calls:
        function = call.get("function") or {}
        items.append(
            {
                "type": "function_call",
                "id": "",
                "call_id": call.get("id") or "",
                "name": function.get("name") or "",
                "arguments": function.get("arguments") or "{}",
                "status": "completed",
            }
        )
    return items


def _usage(usage: Any) -> dict[str, Any]:
    """The token counts under the task language's names."""
    if not isinstance(usage, dict):
        return {}
    sent = usage.get("prompt_tokens", usage.get("input_tokens", usage.get("num_prompt_tokens")))
    made = usage.get(
        "completion_tokens", usage.get("output_tokens", usage.get("num_completion_tokens"))
    )
    result = {"num_prompt_tokens": sent, "num_completion_tokens": made}
    details = usage.get("completion_tokens_details") or usage.get("output_tokens_details") or {}
    if details.get("reasoning_tokens"):
        result["num_reasoning_tokens"] = details["reasoning_tokens"]
    return result


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
        raise CallFailure("model", "the reply has no output", retryable=True)
    items = [item for raw in output if (item := _response_item(raw)) is not None]
    usage = _usage(data.get("usage"))
    details = data.get("incomplete_details") or {}
    finish = details.get("reason")
    if finish == "max_output_tokens":
        finish = "length"
    elif finish is None and data.get("status") == "completed":
        called = any(item["type"] == "function_call" for item in items)
        finish = "tool_calls" if called else "stop"
    return ModelOutput(
        {"items": items, "usage": usage},
        finish,
        usage.get("num_prompt_tokens") or 0,
        usage.get("num_completion_tokens") or 0,
    )


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
        return {
            "type": "function_call",
            "id": item.get("id") or "",
            "call_id": item.get("call_id") or "",
            "name": item.get("name") or "",
            "arguments": item.get("arguments") or "{}",
            "status": item.get("status") or "completed",
        }
    if kind == "reasoning":
        parts = [*(item.get("summary") or ()), *(item.get("content") or ())]
        texts = [part["text"] for part in parts if isinstance(part, dict) and part.get("text")]
        if texts:
            content = [{"type": "reasoning_text", "text": text} for text in texts]
            return {
                "type": "message",
                "id": item.get("id") or "",
                "status": "completed",
                "role": "assistant",
                "content": content,
            }
    return None
