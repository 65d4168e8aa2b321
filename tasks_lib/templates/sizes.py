"""How much operations, methods and filters of templates will make, reckoned before they do."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.templates.meter import MAX_SIZE, TooLargeError

_HUGE_WIDTH = re.compile(r"%[-+ #0]*(?:\d*\.)?(?:\d{7,}|\*)|\{[^{}]*\d{7,}[^{}]*\}")


def texts_of(values: Iterable[Any]) -> int:
    """Return how long values are as text, roughly."""
    return sum(len(value) if isinstance(value, str) else 8 for value in values)


def product(left: Any, right: Any) -> int:
    """Return the size of `left * right`."""
    for many, times in ((left, right), (right, left)):
        if isinstance(many, str | bytes | list | tuple) and isinstance(times, int):
            return len(many) * max(times, 0)
    return 0


def power(left: Any, right: Any) -> int:
    """Return the size in bits of `left ** right`."""
    integers = isinstance(left, int) and isinstance(right, int)
    return left.bit_length() * right if integers else 0


def total(left: Any, right: Any) -> int:
    """Return the size of `left + right`."""
    if isinstance(left, str | list | tuple) and isinstance(right, str | list | tuple):
        return len(left) + len(right)
    return 0


def formatted(text: Any, sign: str, values: Iterable[Any]) -> int:
    """Return the size of a text with values put in at each `sign`, roughly.

    Raises:
        TooLargeError: it asks for a huge width.
    """
    if not isinstance(text, str):
        return 0
    if _HUGE_WIDTH.search(text):
        raise TooLargeError(f"the width asked for in {bounded(text, 60)!r}")
    longest = max((len(value) for value in values if isinstance(value, str)), default=0)
    return len(text) + text.count(sign) * longest


def replaced(text: str, old: Any, new: Any) -> int:
    """Return the size of `text.replace(old, new)` at most."""
    times = text.count(old) if isinstance(old, str) else 0
    return len(text) + times * len(new if isinstance(new, str) else str(new))


def text_method(name: str, text: str, args: Sequence[Any]) -> int:
    """Return the size of what a method of text gives, roughly."""
    numbers = max((arg for arg in args if isinstance(arg, int)), default=0)
    match name, args:
        case "replace", (old, new, *_):
            return replaced(text, old, new)
        case "join", (values, *_) if isinstance(values, list | tuple):
            return texts_of(values) + len(text) * len(values)
        case (("format" | "format_map"), _):
            given = args[0].values() if name == "format_map" and args else args
            return formatted(text, "{", given)
        case "expandtabs", _:
            return len(text) + text.count("\t") * numbers
        case "translate", (Mapping() as table, *_):
            return len(text) * max((len(str(new)) for new in table.values()), default=1)
    return numbers


Estimate = Callable[..., int]
"""Takes what a filter takes and returns how much it will make, roughly."""


def _joined(values: Any, separator: Any = "", attribute: Any = None) -> int:
    many = isinstance(values, str | list | tuple | dict)
    return (texts_of(values) + len(str(separator)) * len(values)) if many else 0


def _indented(text: Any, width: Any = 4, first: bool = False, blank: bool = False) -> int:
    wide = width if isinstance(width, int) else len(str(width))
    return len(str(text)) + wide * (str(text).count("\n") + 1)


def _wrapped(text: Any, width: int = 79, long: bool = True, wrapstring: Any = None, *_: Any) -> int:
    width = max(width, 1)
    lines = len(str(text)) // width + 1
    longest = max(map(len, str(text).split()), default=0)
    cutting = longest**2 // (200 * width)  # each piece of a long word copies the rest of it
    return len(str(text)) + lines * len(wrapstring or "") + cutting


def _cut(values: Any, count: int, fill: Any = None) -> int:
    return count


def _summed(values: Any, attribute: Any = None, start: Any = 0) -> int:
    if isinstance(start, int | float):
        return 0
    raise TooLargeError("sum adds numbers only")


ESTIMATES: dict[str, Estimate] = {
    "batch": _cut,
    "center": lambda text, width=80: len(str(text)) + width,
    "format": lambda text, *args, **named: formatted(text, "%", (*args, *named.values())),
    "indent": _indented,
    "join": _joined,
    "replace": lambda text, old, new, count=None: replaced(str(text), old, new),
    "slice": _cut,
    "sum": _summed,
    "tojson": lambda value, indent=None: MAX_SIZE + 1 if (indent or 0) > 64 else 0,
    "wordwrap": _wrapped,
}
"""Filters that can make much of little."""
