"""`latticeflow$openai_chat_completion`: OpenAI's Chat Completions."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import bounded
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
from tasks_lib.trace import message_item


class OpenAIChat:
    """Asks for a chat completion."""

    path = "/chat/completions"

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        model = {"model": info.model_key} if info.model_key else {}
        return dump_bytes({**model, **parameters, **chat_input(model_input)})

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        return chat_output(read_json(body))


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
        raise malformed("the reply has no choices")
    kept = [_choice(choice) for choice in choices]
    first = choices[0]
    message = first["message"]
    finish = text_or_none(first.get("finish_reason"))
    usage, counts = token_usage(data.get("usage"))
    if calls := message.get("tool_calls"):
        items = [*_said_items(kept[0]["message"]), *_call_items(calls)]
        return ModelOutput({"items": items, "usage": usage}, finish, *counts)
    if message.get("content") is None and finish in (None, "stop") and not _excuse(message):
        raise malformed("the reply is empty")
    return ModelOutput({"choices": kept, "usage": usage}, finish, *counts)


def _choice(choice: Any) -> dict[str, Any]:
    message = choice.get("message") if isinstance(choice, dict) else None
    reject_error(choice)
    if not isinstance(message, dict):
        raise malformed("the reply's choice has no message")
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
    raise malformed(f"the reply's content is no text: {bounded(str(content), 80)!r}")


def _reasoning(message: dict[str, Any]) -> Any:
    return message.get("reasoning_content") or message.get("reasoning")


def _excuse(message: dict[str, Any]) -> bool:
    return bool(message.get("refusal") or _reasoning(message))


def _said_items(message: dict[str, Any]) -> list[dict[str, Any]]:
    """What is said beside tool calls; reasoning comes first."""
    items = []
    if isinstance(reasoning := message.get("reasoning_content"), str):
        items.append(thought_item([reasoning]))
    if text := message["content"]:
        items.append(message_item("assistant", text))
    return items


def _call_items(calls: Any) -> list[dict[str, Any]]:
    if not isinstance(calls, list):
        raise malformed("the reply's tool calls are no list")
    items = []
    for call in calls:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict) or not isinstance(function.get("name"), str):
            raise malformed("the reply has a tool call without a function")
        items.append(call_item(function["name"], function.get("arguments"), call.get("id")))
    return items
