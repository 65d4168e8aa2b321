"""A conversation as text for the terminal."""

from collections.abc import Iterator, Mapping
from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.report.text import printable


def trace_lines(trace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the lines of a trace in JSON form: messages, tool calls and their outputs."""
    for item in trace.get("items", ()):
        yield from _item_lines(item)


def _item_lines(item: Mapping[str, Any]) -> Iterator[str]:
    match item.get("type"):
        case "message":
            yield from _block(str(item.get("role")), _content_text(item.get("content")))
        case "function_call":
            yield from _block("call", f"{item.get('name')}({item.get('arguments')})")
        case "function_call_output":
            yield from _block("output", _content_text(item.get("output")))
        case kind:
            label = "input" if kind == "custom_task_input_message" else "output"
            yield from _block(label, dumps(item.get("content")))


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
    first, *others = printable(text).split("\n")
    yield f"{label}: {first}"
    indent = " " * (len(label) + 2)
    for line in others:
        yield indent + line
