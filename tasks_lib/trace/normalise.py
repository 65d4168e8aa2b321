"""What is accepted as trace items, and how near misses become the real thing."""

from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.trace.fields import REQUIRED, Field
from tasks_lib.trace.items import ITEM, MessageRole, MessageStatus, TraceItem, message_item
from tasks_lib.trace.nested import NestedList, RecordList
from tasks_lib.trace.plain import raw_of

_ROLES = frozenset(map(str, MessageRole))
_STATUSES = frozenset(map(str, MessageStatus))
_PLAIN_PARTS = frozenset({"input_text", "output_text", "text", "summary_text", "reasoning_text"})


def strict_items(items: Any) -> list[dict[str, Any]]:
    """Return `items` as they are if they are exactly what the format says.

    Raises:
        ValueError: an item is of another kind, or lacks a key, or holds something else.
    """
    _require_list(items)
    return [ITEM.accept(item, f"items[{place}]") for place, item in enumerate(items)]


def lenient_items(items: Any) -> list[dict[str, Any]]:
    """Return `items` with what may be missing or spelled otherwise put right.

    A missing id is "", a missing status completed, text content one text part, arguments
    and outputs that are not text their JSON text; chat-completion messages become items;
    reasoning becomes an assistant message of its own when it has text, and nothing
    otherwise.

    Raises:
        ValueError: an item can't be put right.
    """
    _require_list(items)
    if is_plain(items):
        return list(items)
    return [
        ITEM.accept(item if mended == item else mended, f"items[{place}]")
        for place, item in enumerate(map(raw_of, items))
        for mended in mend(item, f"items[{place}]")
    ]


class LenientItem:
    """One trace item in the lenient sense, for what is appended to a trace."""

    view = ITEM.view

    def accept(self, value: Any, where: str) -> Any:
        items = lenient_items([value])
        if len(items) != 1:
            raise ValueError(f"{where}: {value!r:.80} is not one trace item")
        return items[0]


class _Items(NestedList):
    """The items of a trace; what is written to it is taken leniently."""

    def __init__(self, default: Any = REQUIRED) -> None:
        super().__init__(LenientItem(), default)

    def write(self, value: Any, where: str) -> Any:
        return lenient_items(value)


def items_field(default: Any = REQUIRED) -> Field[RecordList[TraceItem]]:
    """Declare the items of a trace, or a part of them."""
    return _Items(default)


def is_plain(items: list[Any]) -> bool:
    """Say whether all items are complete messages and calls that hold nothing but text.

    This is the quick look that lets nearly every stored trace pass untouched: False means
    no more than that a thorough look is needed.
    """
    try:
        for item in items:
            kind = item["type"]
            if kind == "message":
                if not (
                    len(item) == 5
                    and item["role"] in _ROLES
                    and item["status"] in _STATUSES
                    and type(item["id"]) is str
                    and type(item["content"]) is list
                ):
                    return False
                for part in item["content"]:
                    if part["type"] not in _PLAIN_PARTS or type(part["text"]) is not str:
                        return False
                    if len(part) != 2 and (
                        len(part) != 4 or part["annotations"] or part["logprobs"]
                    ):
                        return False
            elif kind == "function_call":
                if not (
                    len(item) == 6
                    and type(item["name"]) is type(item["arguments"]) is str
                    and type(item["call_id"]) is type(item["id"]) is str
                    and item["status"] in _STATUSES
                ):
                    return False
            elif not (
                kind == "function_call_output"
                and len(item) == 5
                and type(item["output"]) is str
                and type(item["call_id"]) is type(item["id"]) is str
                and item["status"] in _STATUSES
            ):
                return False
    except (KeyError, TypeError):
        return False
    return True


def mend(item: Any, where: str) -> list[dict[str, Any]]:
    """Return the items that the object `item` stands for, without checking them in full.

    Raises:
        ValueError: `item` is not an object, or nothing that items can be made of.
    """
    if not isinstance(item, dict):
        raise ValueError(f"{where}: {item!r:.80} is not an object")
    match ITEM.type_of(item):
        case "message":
            return chat_items(item, where)
        case "function_call":
            return [_mended_call(item)]
        case "function_call_output":
            return [_mended_output(item)]
        case "reasoning":
            return _reasoning_items(item)
    return [item]


def chat_items(message: dict[str, Any], where: str = "message") -> list[dict[str, Any]]:
    """Return the items of one message, in trace form or as chat-completion APIs write it.

    Tool calls become function calls after the message (which is left out when it says
    nothing), a `tool` message becomes the call's output.

    Raises:
        ValueError: the content is of no known form.
    """
    content = message.get("content")
    if message.get("role") == "tool":
        output = {
            "id": message.get("id"),
            "call_id": message.get("tool_call_id", message.get("call_id", "")),
            "output": joined_text(content) if isinstance(content, list) else content or "",
        }
        return [_mended_output(output)]
    calls = message.get("tool_calls") or []
    items = [] if calls and not content else [_mended_message(message, where)]
    return items + [_call_of_tool_call(call, where) for call in calls]


def joined_text(parts: list[Any]) -> str:
    """Return the text parts of chat content, one a line; files have no text."""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _mended_message(message: dict[str, Any], where: str) -> dict[str, Any]:
    role = message.get("role")
    content = message.get("content")
    mended = {"type": "message", **message}
    mended["id"] = message.get("id") or ""
    mended["status"] = message.get("status") or "completed"
    if content is None or isinstance(content, str):
        mended["content"] = message_item(str(role), content or "")["content"]
    elif isinstance(content, list):
        mended["content"] = [
            _mended_part(raw_of(part), str(role), f"{where}.content[{place}]")
            for place, part in enumerate(content)
        ]
    return {key: value for key, value in mended.items() if key != "tool_calls"}


def _mended_part(part: Any, role: str, where: str) -> Any:
    if isinstance(part, str):
        parts: list[Any] = message_item(role, part)["content"]
        return parts[0]
    if not isinstance(part, dict):
        return part
    if "type" not in part and "text" in part:
        return {"type": "output_text" if role == "assistant" else "input_text", **part}
    if part.get("type") == "image_url":
        image = part.get("image_url")
        image = image if isinstance(image, dict) else {"url": image}
        detail = image.get("detail") or "auto"
        return {"type": "input_image", "image_url": image.get("url"), "detail": detail}
    if part.get("type") == "input_image" and "detail" not in part:
        return {**part, "detail": "auto"}
    return part


def _mended_call(call: dict[str, Any]) -> dict[str, Any]:
    arguments = call.get("arguments")
    return {
        "type": "function_call",
        **call,
        "id": call.get("id") or "",
        "status": call.get("status") or "completed",
        "arguments": arguments if isinstance(arguments, str) else dumps(arguments or {}),
    }


def _mended_output(output: dict[str, Any]) -> dict[str, Any]:
    value = output.get("output")
    return {
        "type": "function_call_output",
        **output,
        "id": output.get("id") or "",
        "status": output.get("status") or "completed",
        "output": value if isinstance(value, str) or _is_part_list(value) else dumps(value),
    }


def _is_part_list(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(part, dict) and str(part.get("type", "")).startswith("input_") for part in value
    )


def _call_of_tool_call(call: Any, where: str) -> dict[str, Any]:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise ValueError(f"{where}.tool_calls: {call!r:.80} has no 'function'")
    return _mended_call(
        {
            "call_id": call.get("id") or "",
            "name": function.get("name"),
            "arguments": function.get("arguments"),
        }
    )


def _reasoning_items(item: dict[str, Any]) -> list[dict[str, Any]]:
    parts = item.get("content") or item.get("summary")
    text = joined_text(parts) if isinstance(parts, list) else ""
    content = [{"type": "reasoning_text", "text": text}]
    return [{**message_item("assistant", ""), "content": content}] if text else []


def _require_list(items: Any) -> None:
    if not isinstance(items, (list, tuple)):
        raise ValueError(f"items: {items!r:.80} is not a list")
