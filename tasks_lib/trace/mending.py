"""How near misses of trace items become the real thing, chat-completion messages among them."""

from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.trace.items import ITEM, message_item
from tasks_lib.trace.plain import raw_of


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


def chat_items(message: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """Return the items of one message, in trace form or as chat-completion APIs write it.

    Tool calls become function calls after the message (which is left out when it says
    nothing), a `tool` message becomes the call's output.

    Raises:
        ValueError: the tool calls are no list, or one names no function.
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
    if not isinstance(calls, list):
        raise ValueError(f"{where}.tool_calls: {calls!r:.80} is not a list")
    items = [] if calls and not content else [_mended_message(message)]
    return items + [_call_of_tool_call(call, where) for call in calls]


def joined_text(parts: list[Any]) -> str:
    """Return the text parts of chat content, one a line; files have no text."""
    texts = (part.get("text") for part in parts if isinstance(part, dict))
    return "\n".join(text for text in texts if isinstance(text, str))


def _mended_message(message: dict[str, Any]) -> dict[str, Any]:
    role = str(message.get("role"))
    content = message.get("content")
    if content is None or isinstance(content, str):
        content = message_item(role, content or "")["content"]
    elif isinstance(content, list):
        content = [_mended_part(raw_of(part), role) for part in content]
    mended = _completed("message", message, content=content)
    mended.pop("tool_calls", None)
    return mended


def _completed(kind: str, item: dict[str, Any], **mended: Any) -> dict[str, Any]:
    """Return `item` with what was mended of it, and with type, id and status if it has none."""
    return {
        "type": kind,
        **item,
        "id": item.get("id") or "",
        "status": item.get("status") or "completed",
        **mended,
    }


def _mended_part(part: Any, role: str) -> Any:
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
    text = arguments if isinstance(arguments, str) else dumps(arguments or {})
    return _completed("function_call", call, arguments=text)


def _mended_output(output: dict[str, Any]) -> dict[str, Any]:
    value = output.get("output")
    kept = value if isinstance(value, str) or _is_part_list(value) else dumps(value)
    return _completed("function_call_output", output, output=kept)


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
