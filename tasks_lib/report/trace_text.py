"""A conversation as text for the terminal."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tasks_lib.jsontext import dumps, loads
from tasks_lib.report.text import one_line, printable

_WIDTH = 100


def trace_lines(trace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a trace in JSON form: messages, tool calls and their outputs.

    An output names the call it answers; JSON too long for a line is spread over several.
    """
    called: dict[str, str] = {}
    for item in trace.get("items", ()):
        if item.get("type") == "function_call":
            called[str(item.get("call_id"))] = str(item.get("name"))
        yield from _item_lines(item, called)
    ended_by = ((trace.get("metadata") or {}).get("extra") or {}).get("ended_by")
    if ended_by:
        yield from _block("ended", str(ended_by))


def _item_lines(item: Mapping[str, Any], called: Mapping[str, str]) -> Iterator[str]:
    match item.get("type"):
        case "message":
            yield from _block(str(item.get("role")), _content_text(item.get("content")))
        case "function_call":
            arguments = _spread(str(item.get("arguments")))
            yield from _block("call", f"{item.get('name')}({arguments})")
        case "function_call_output":
            name = called.get(str(item.get("call_id")))
            label = f"output of {name}" if name else "output"
            yield from _block(label, _spread(_content_text(item.get("output"))))
        case kind:
            label = "input" if kind == "custom_task_input_message" else "output"
            yield from _block(label, _spread(dumps(item.get("content"))))


def _spread(text: str) -> str:
    """JSON objects and lists that are too long for a line, one member a line."""
    if len(text) <= _WIDTH or text[:1] not in ("{", "["):
        return text
    try:
        return json.dumps(loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def _content_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return dumps(content)
    return "\n".join(_part_text(part) for part in content)


def _part_text(part: Any) -> str:
    kind = part.get("type", "part")
    text = part.get("text", part.get("refusal"))
    if text is None:
        return f"({kind})"
    return str(text) if kind in ("input_text", "output_text", "text") else f"({kind}) {text}"


def _block(label: str, text: str) -> Iterator[str]:
    label = one_line(label, 60)
    first, *others = printable(text).split("\n")
    yield f"{label}: {first}"
    for line in others:
        yield f"    {line}"
