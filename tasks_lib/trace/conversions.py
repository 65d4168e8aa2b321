"""Between trace items, chat messages, model inputs and model outputs; all plain JSON."""

from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.trace.content import content_text, is_said
from tasks_lib.trace.items import message_item
from tasks_lib.trace.mending import chat_items, joined_text
from tasks_lib.trace.normalise import lenient_items
from tasks_lib.trace.plain import View, copy_json, detached

_CHAT_ROLES = frozenset({"system", "user", "assistant"})
_CUSTOM_ITEMS = frozenset({"custom_task_input_message", "custom_task_output_message"})


def is_chat_input(value: Any) -> bool:
    """Say whether the model input `value` is a chat: an object with a list of messages."""
    return isinstance(value, dict) and isinstance(value.get("messages"), list)


def is_chat_output(value: Any) -> bool:
    """Say whether the model output `value` is a chat completion, references or not."""
    return (
        isinstance(value, dict)
        and isinstance(choices := value.get("choices"), list)
        and all(isinstance(choice, dict) for choice in choices)
        and all(isinstance(choice.get("message"), dict) for choice in choices)
    )


def open_responses_items(value: Any) -> list[dict[str, Any]] | None:
    """Return the items of an Open Responses output; None if `value` is none.

    An object with `items` counts as one when every item is a trace item, or nearly.
    """
    if not isinstance(value, dict) or not isinstance(value.get("items"), list):
        return None
    try:
        return lenient_items(value["items"])
    except ValueError:
        return None


def input_items(model_input: Any) -> list[dict[str, Any]]:
    """Return the trace items that record `model_input`.

    Args:
        model_input: a chat input (`{"messages": [...]}`), whose messages become items
            without their files; or any other JSON, which becomes one custom input item.

    Raises:
        ValueError: a chat message is not an object.
    """
    if not is_chat_input(model_input):
        return [{"type": "custom_task_input_message", "content": model_input}]
    items = []
    for place, message in enumerate(model_input["messages"]):
        if not isinstance(message, dict):
            raise ValueError(f"messages[{place}]: {message!r:.80} is not an object")
        content = message.get("content")
        if isinstance(content, list):
            message = {**message, "content": joined_text(content)}
        items += chat_items(message, f"messages[{place}]")
    return items


def output_items(raw_output: Any) -> list[dict[str, Any]]:
    """Return the trace items of one model output.

    Args:
        raw_output: a chat completion, of which the first choice's content counts (a refusal
            is dropped; no choices give no items); an Open Responses output; or any other
            JSON, which becomes one custom output item.
    """
    if is_chat_output(raw_output):
        choices = raw_output["choices"]
        return [message_item("assistant", _choice_text(choices))] if choices else []
    items = open_responses_items(raw_output)
    if items is not None:
        return [copy_json(item) for item in items]
    return [{"type": "custom_task_output_message", "content": copy_json(raw_output)}]


def output_message(raw_output: Any) -> Any:
    """Return what a model output says: its first choice's message, its vectors, or itself."""
    if is_chat_output(raw_output):
        choices = raw_output["choices"]
        return choices[0]["message"] if choices else None
    if isinstance(raw_output, dict) and isinstance(raw_output.get("embeddings"), list):
        return raw_output["embeddings"]
    return raw_output


def output_text(raw_output: Any) -> str | None:
    """Return the text that a scorer checks by default; None when the output has none.

    That is the first choice's content of a chat completion, and the text of the last
    assistant message of an Open Responses output.
    """
    if is_chat_output(raw_output):
        choices = raw_output["choices"]
        return _choice_text(choices) if choices else None
    items = open_responses_items(raw_output)
    return None if items is None else last_assistant_text(items)


def items_to_messages(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the chat messages among `items`: `{"role": ..., "content": text}` each.

    Function calls, their outputs, developer messages and custom items are left out.
    """
    return [
        {"role": item["role"], "content": content_text(item["content"])}
        for item in items
        if item["type"] == "message" and item["role"] in _CHAT_ROLES
    ]


def to_model_input(value: Any) -> Any:
    """Return the plain model input that `value` stands for.

    Args:
        value: trace items or chat messages in a list, a chat input, or any JSON; typed or
            plain.
    """
    if isinstance(value, View):  # what its author left out is not sent as null
        members = detached(value)
        return {name: member for name, member in members.items() if member is not None}
    value = detached(value)
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        return value
    if value and all("role" in entry and "type" not in entry for entry in value):
        return {"messages": value}
    try:
        return items_to_model_input(lenient_items(value))
    except ValueError:
        return value


def items_to_model_input(items: list[dict[str, Any]]) -> Any:
    """Return the model input that continues the conversation `items`.

    That is a chat input of its messages, or, for items of a model that does not chat, the
    content of the last custom item.
    """
    messages = items_to_messages(items)
    if not messages:
        for item in reversed(items):
            if item["type"] in _CUSTOM_ITEMS:
                return item["content"]
    return {"messages": messages}


def last_assistant_text(items: list[dict[str, Any]]) -> str | None:
    """Return what the last assistant message among `items` says; None without one.

    Thoughts are not said.
    """
    for item in reversed(items):
        if is_said(item):
            return content_text(item["content"])
    return None


def _choice_text(choices: list[Any]) -> str:
    content = choices[0]["message"].get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return joined_text(content) if isinstance(content, list) else dumps(content)
