"""What is accepted as trace items: strictly, leniently, and at a quick look."""

from typing import Any

from tasks_lib.trace.fields import REQUIRED, Field
from tasks_lib.trace.items import ITEM, MessageRole, MessageStatus, TraceItem
from tasks_lib.trace.mending import mend
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


def _require_list(items: Any) -> None:
    if not isinstance(items, (list, tuple)):
        raise ValueError(f"items: {items!r:.80} is not a list")
