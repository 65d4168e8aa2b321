"""Single values of config parameters: what counts as text, a number, true or false."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from tasks_lib.errors import bounded

ScalarType = Literal["string", "integer", "float", "boolean"]
"""Type of a value."""
Scalar = bool | int | float | str
"""A value of any of these types."""

_LATE = ConfigDict(defer_build=True)  # few commands see a parameter
_BOOLEAN, _INTEGER = TypeAdapter(bool, config=_LATE), TypeAdapter(int, config=_LATE)
_FLOAT = TypeAdapter(Annotated[float, Field(allow_inf_nan=False)], config=_LATE)


def as_text(value: Any) -> str:
    """Return a text.

    Raises:
        ValueError: it is none.
    """
    if not isinstance(value, str):
        raise ValueError(f"{shown(value)} is not text; put it in quotes")
    return value


def as_boolean(value: Any) -> bool:
    """Return true or false, which may be written as such words are in YAML.

    Raises:
        ValueError: it is neither.
    """
    return bool(_coerced(_BOOLEAN, value, "true or false"))


def as_integer(value: Any) -> int:
    """Return a whole number, which may be written as text.

    Raises:
        ValueError: it is none.
    """
    return int(_coerced(_INTEGER, value, "a whole number"))


def as_float(value: Any) -> float:
    """Return a number, which may be written as text.

    Raises:
        ValueError: it is none, or not finite.
    """
    return float(_coerced(_FLOAT, value, "a number"))


def as_scalar(kind: ScalarType, value: Any) -> Scalar:
    """Return a value of one type.

    Raises:
        ValueError: it is of another.
    """
    return _SCALARS[kind](value)


def shown(value: Any) -> str:
    """Return a value as it is named in messages."""
    return bounded(repr(value), 80)


def _coerced(adapter: TypeAdapter[Any], value: Any, wanted: str) -> Any:
    try:
        if isinstance(value, bool) and adapter is not _BOOLEAN:
            raise ValueError  # Python would count true as 1
        return adapter.validate_python(value)
    except ValueError:
        raise ValueError(f"{shown(value)} is not {wanted}") from None


_SCALARS: dict[ScalarType, Callable[[Any], Scalar]] = {
    "string": as_text,
    "integer": as_integer,
    "float": as_float,
    "boolean": as_boolean,
}
