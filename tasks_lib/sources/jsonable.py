"""Arrow values as JSON has them."""

import base64
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any


def needs_care(kind: Any) -> bool:
    """Tell whether values of an Arrow type may be anything but null, bool, int and text."""
    import pyarrow.types as types

    easy = (types.is_boolean, types.is_integer, types.is_string, types.is_large_string)
    return not any(check(kind) for check in (*easy, types.is_null))


def plain(value: Any) -> Any:
    """Return a Python value of Arrow's as JSON has it.

    Times are ISO text, durations seconds, bytes text (base64 where they are no UTF-8), whole
    decimals integers, others floats unless that loses digits (then text), NaN null.
    """
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if value == value else None
        case dict():
            return {str(plain(key)): plain(item) for key, item in value.items()}
        case list():
            return [plain(item) for item in value]
        case tuple():
            return [plain(item) for item in value]
        case timedelta():
            return value.total_seconds()
        case date() | time():
            return value.isoformat()
        case Decimal():
            return _number(value)
        case bytes():
            return _text(value)
    return str(value)


def _number(value: Decimal) -> int | float | str:
    if not value.is_finite():
        return str(value)
    if value == value.to_integral_value():
        return int(value)
    return float(value) if Decimal(repr(float(value))) == value else str(value)


def _text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return base64.b64encode(value).decode()
