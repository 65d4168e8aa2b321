"""Filters: an expression over a row and what it is held against.

Rows of files are loosely typed (`5` or `"5"`, `true` or `True`), so by default a filter compares
leniently; strict comparison is Python's, after the rendered text is read as a literal.
"""

import operator
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError, bounded
from tasks_lib.templates import TemplateSource, compile_template, literal

Scalar = str | int | float | bool

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_ORDERINGS: Mapping[str, Callable[[Any, Any], bool]] = {
    "greater_than": operator.gt,
    "less_than": operator.lt,
    "greater_or_equal": operator.ge,
    "less_or_equal": operator.le,
}


class BaseFilter(Definition):
    """A test of one row."""

    expression: TemplateSource
    """Template of the value to test, with its braces, e.g. `{{ sample.lang }}`."""

    @abstractmethod
    def matches(self, /, strict: bool = False, **variables: Any) -> bool:
        """Tell whether the row passes.

        Args:
            strict: compare as Python does, without bridging text and other types.
            variables: what the expression may name, e.g. `sample`.

        Raises:
            SampleError: the expression is undefined or fails (`template`), or its value is of
                a kind the operator can't take (`data`).
        """

    def _value(self, strict: bool, variables: Mapping[str, Any]) -> Any:
        template = compile_template(self.expression, "filter")
        return template.evaluate(**variables) if strict else template.value(**variables)


class Comparison(BaseFilter):
    """Holds the expression against one value."""

    op: Literal[
        "equals", "not_equals", "greater_than", "less_than", "greater_or_equal", "less_or_equal"
    ]
    """How to compare."""
    value: Scalar
    """The right side."""

    def matches(self, /, strict: bool = False, **variables: Any) -> bool:
        found = self._value(strict, variables)
        if self.op in _ORDERINGS:
            left, right = (_number(side, self.op, strict) for side in (found, self.value))
            return _ORDERINGS[self.op](left, right)
        same = found == self.value if strict else _alike(found, self.value)
        return bool(same) == (self.op == "equals")


class Membership(BaseFilter):
    """Looks the expression up among some values."""

    op: Literal["in", "not_in"]
    """Whether it has to be, or must not be, one of them."""
    values: tuple[Scalar, ...]
    """The values; none at all is allowed."""

    def matches(self, /, strict: bool = False, **variables: Any) -> bool:
        found = self._value(strict, variables)
        if strict:
            inside = found in self.values
        else:
            inside = any(_alike(found, value) for value in self.values)
        return inside == (self.op == "in")


class Unary(BaseFilter):
    """Asks whether the expression is there, or what truth it has."""

    op: Literal["exists", "not_exists", "is_true", "is_false"]
    """`exists` is about being defined: null and empty text exist."""

    def matches(self, /, strict: bool = False, **variables: Any) -> bool:
        if self.op in ("exists", "not_exists"):
            defined = compile_template(self.expression, "filter").is_defined(**variables)
            return defined == (self.op == "exists")
        truth = _truth(self._value(strict, variables), self.op, strict)
        return truth == (self.op == "is_true")


Filter = Annotated[Comparison | Membership | Unary, Field(discriminator="op")]


def _alike(found: Any, value: Scalar) -> bool:
    """Compare as values, as the literals their texts spell, and as texts."""
    if found == value or _text(found) == _text(value):
        return True
    if isinstance(found, str):
        if isinstance(value, bool):
            return found.lower() == _text(value) or literal(found) == value
        return bool(literal(found) == value)
    if isinstance(value, str):
        if isinstance(found, bool):
            return value.lower() == _text(found)
        return bool(literal(value) == found)
    return False


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _number(value: Any, op: str, strict: bool) -> int | float:
    if isinstance(value, int | float):
        return value
    if not strict and isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
        number: int | float = float(value) if re.search(r"[.eE]", value) else int(value)
        return number
    raise SampleError("data", f"'{op}' needs a number, not {_shown(value)}")


def _truth(value: Any, op: str, strict: bool) -> bool:
    if isinstance(value, bool):
        return value
    if not strict and isinstance(value, str) and value.strip().lower() in ("true", "false"):
        return value.strip().lower() == "true"
    raise SampleError("data", f"'{op}' needs true or false, not {_shown(value)}")


def _shown(value: Any) -> str:
    return bounded(repr(value), 80)
