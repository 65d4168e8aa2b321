"""What kind of column a score is stored in."""

from typing import Any, Literal

ScoreKind = Literal["bool", "share", "number", "text", "json", "null"]
"""How a score field is stored: real booleans, float64, text, or JSON text for all else.

`share` is a float64 between 0 and 1: booleans of single trials beside their aggregates.
`null` is a field that has no value yet; it takes the kind of the first value elsewhere.
"""


def kind_of(value: Any) -> ScoreKind:
    """The kind one score value calls for; an integer that no float64 equals is JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, float) or (isinstance(value, int) and _fits_float(value)):
        return "number"
    if isinstance(value, str):
        return "text"
    return "json"


def _fits_float(value: int) -> bool:
    try:
        return float(value) == value
    except OverflowError:
        return False


def joined_kind(left: ScoreKind, right: ScoreKind) -> ScoreKind:
    """The kind that holds both; kinds that differ become JSON text."""
    if left in ("null", right):
        return right
    if {left, right} == {"share", "number"}:
        return "number"
    return left if right == "null" else "json"
