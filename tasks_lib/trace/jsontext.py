"""JSON text in and out, fast for ordinary data and exact for the rest.

orjson refuses lone surrogates and integers beyond 64 bits when writing, and reads such
integers as floats; the standard library does both exactly.
"""

import json
import re
from typing import Any

import orjson

_LONG_NUMBER = re.compile(r"\d{19}")


def loads(text: str | bytes) -> Any:
    """Return the value of JSON `text`; integers stay integers, however long.

    Raises:
        ValueError: `text` is not JSON.
    """
    return exact(text, loads_fast(text))


def loads_fast(text: str | bytes) -> Any:
    """Return the value of JSON `text`; an integer beyond 64 bits may come back as a float.

    Raises:
        ValueError: `text` is not JSON.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return _loads_exactly(text)


def exact(text: str | bytes, value: Any) -> Any:
    """Return `value`, read from `text` by `loads_fast`, with its long integers restored."""
    if isinstance(text, bytes):
        text = text.decode("utf-8", "surrogatepass")
    return _loads_exactly(text) if _LONG_NUMBER.search(text) else value


def _loads_exactly(text: str | bytes) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def dumps(value: Any, indent: int | None = None) -> str:
    """Return JSON text of `value`, always encodable as UTF-8.

    It is compact, except where it holds what `loads_fast` does not read exactly.

    Lone surrogates are written as escapes, so that they survive; numbers that are not
    finite become null, for JSON has none.

    Raises:
        TypeError: `value` holds something that JSON has no form for.
    """
    if indent is not None:
        return json.dumps(value, indent=indent)
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        return json.dumps(value)


def copy_json(value: Any) -> Any:
    """Return an independent copy of plain JSON `value`; anything else is shared."""
    if type(value) is dict:
        return {key: copy_json(member) for key, member in value.items()}
    if type(value) is list:
        return [copy_json(member) for member in value]
    return value
