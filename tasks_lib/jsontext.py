"""JSON text for storage and requests: orjson where it is exact, the standard library elsewhere.

orjson refuses lone surrogates and integers beyond 64 bits when writing, and reads such
integers as floats; model output holds the first, datasets the second, and neither may
change on the way.
"""

import json
from typing import Any

import orjson

_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_INTEGER = b"0" * 19
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def dumps(value: Any) -> str:
    """Return `value` as compact JSON; NaN and infinities become null.

    Raises:
        TypeError: it holds something JSON can't.
    """
    try:
        return orjson.dumps(value).decode()
    except (TypeError, UnicodeEncodeError):
        return _exactly(value)


def dump_bytes(value: Any, *, sort_keys: bool = False) -> bytes:
    """Return `value` as compact UTF-8 JSON, for request bodies and hashing.

    Raises:
        TypeError: it holds something JSON can't.
    """
    try:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS if sort_keys else None)
    except (TypeError, UnicodeEncodeError):
        return _exactly(value, sort_keys).encode()


def loads(text: str | bytes) -> Any:
    """Return the value of JSON `text`, integers exact however long.

    Raises:
        ValueError: it is no JSON (`json.JSONDecodeError` and its kin).
    """
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    if _may_hold_long_integer(data):
        return _read_exactly(data)
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        return _read_exactly(data)  # takes lone surrogates, NaN and a mark; else words the error


def storable(text: str) -> str:
    """Return `text` as UTF-8 can hold it: a lone surrogate becomes U+FFFD, all else stays."""
    if text.isascii():
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _exactly(value: Any, sort_keys: bool = False) -> str:
    try:
        return json.dumps(
            value, separators=(",", ":"), sort_keys=sort_keys, allow_nan=False, check_circular=False
        )
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"), sort_keys=sort_keys)
    except RecursionError:
        raise TypeError("the value is nested too deeply for JSON") from None


def _may_hold_long_integer(data: bytes) -> bool:
    """Whether 19 digits stand in a row; if so, three do among every sixth byte.

    A look at those costs a fifth of the parse; at all of them, as much as the parse itself.
    """
    return b"000" in data[::6].translate(_DIGITS_AS_ZERO) and _LONG_INTEGER in data.translate(
        _DIGITS_AS_ZERO
    )


def _read_exactly(data: bytes) -> Any:
    try:
        text = data.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "surrogatepass")
        return json.loads(text)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _finite(value: Any) -> Any:
    """Copy `value` with NaN and infinities as null, as orjson writes them."""
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value
