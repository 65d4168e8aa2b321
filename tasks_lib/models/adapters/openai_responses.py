"""`latticeflow$openai_responses`: OpenAI's Responses, the Open Responses form."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.jsontext import dump_bytes
from tasks_lib.models.adapters.base import chat_input
from tasks_lib.models.connections.base import ModelInfo
from tasks_lib.models.outputs import (
    ModelOutput,
    call_item,
    malformed,
    read_json,
    reject_error,
    text_or_none,
    thought_item,
)
from tasks_lib.models.usage import token_usage
from tasks_lib.trace import is_thought


class OpenAIResponses:
    """Asks for a response."""

    path = "/responses"

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        body = {**parameters, **chat_input(model_input)}
        if info.model_key:
            body = {"model": info.model_key, **body}
        if "messages" in body:
            body["input"] = body.pop("messages")
        for name in ("max_tokens", "max_completion_tokens"):
            if name in body:
                body["max_output_tokens"] = body.pop(name)
        form = body.pop("response_format", None)
        if form is not None:
            body["text"] = {**body.get("text", {}), "format": _flat_format(form)}
        return dump_bytes(body)

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        return responses_output(read_json(body))


def _flat_format(form: Any) -> dict[str, Any]:
    """A `response_format` as the Responses API has it: the schema beside its type."""
    schema = form.get("json_schema") if isinstance(form, dict) else None
    if not isinstance(form, dict) or "type" not in form or not isinstance(schema, dict | None):
        raise SampleError(
            "data",
            f"'response_format' is {bounded(repr(form), 80)}",
            fix="make it {type: text}, or {type: json_schema, json_schema: {…}}",
        )
    return {"type": form["type"], **(schema or {})}


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
        raise malformed("the reply has no output")
    items = [item for raw in output if (item := _response_item(raw)) is not None]
    if all(map(is_thought, items)):
        items.append(thought_item([]))  # of no thoughts: an answer that did not come
    usage, counts = token_usage(data.get("usage"))
    details = data.get("incomplete_details")
    finish = text_or_none(details.get("reason")) if isinstance(details, dict) else None
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
        return call_item(
            item.get("name") or "",
            item.get("arguments"),
            item.get("call_id"),
            item.get("id"),
            item.get("status"),
        )
    if kind == "reasoning":
        lists = [
            parts for name in ("summary", "content") if isinstance(parts := item.get(name), list)
        ]
        texts = [part.get("text") for parts in lists for part in parts if isinstance(part, dict)]
        thoughts = [text for text in texts if text]
        return thought_item(thoughts, item.get("id") or "") if thoughts else None
    return None
