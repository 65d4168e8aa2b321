"""Filters: the verified table in strict mode, the bridges of lenient mode."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.filters import Filter

ROWS = [
    {"id": 1, "s": "abc", "n": 5, "f": 1.5, "b": True, "x": None, "l": ["a", "b"], "a b": 1},
    {"id": 2, "s": "ABC", "n": "5", "f": 2, "b": False, "l": [], "a b": 2},
    {"id": 3, "s": "true", "n": 10, "f": "1.50", "b": "true", "x": "y", "l": ["c"], "a b": 3},
]
ERROR = "error"


def make(op: str, expression: str, value: Any = None) -> Any:
    definition: dict[str, Any] = {"op": op, "expression": expression}
    if op in ("in", "not_in"):
        definition["values"] = value
    elif value is not None:
        definition["value"] = value
    return TypeAdapter(Filter).validate_python(definition)


def kept(filter: Any, strict: bool) -> list[int] | str:
    try:
        return [row["id"] for row in ROWS if filter.matches(strict=strict, sample=row)]
    except SampleError:
        return ERROR


def case(op: str, expression: str, value: Any, strict: Any, lenient: Any = None) -> Any:
    """A row of the table; lenient keeps the same unless told otherwise."""
    lenient = strict if lenient is None else lenient
    return pytest.param(op, expression, value, strict, lenient, id=f"{op} {expression} {value!r}")


@pytest.mark.parametrize(
    ("op", "expression", "value", "strict", "lenient"),
    [
        case("equals", "{{ sample.s }}", "abc", [1]),
        case("equals", "{{ sample.n }}", 5, [1, 2]),
        case("equals", "{{ sample.n }}", 5.0, [1, 2]),
        case("equals", "{{ sample.n }}", "5", [], [1, 2]),
        case("not_equals", "{{ sample.n }}", 5, [3]),
        case("not_equals", "{{ sample.n }}", "5", [1, 2, 3], [3]),
        case("in", "{{ sample.n }}", ["5"], [], [1, 2]),
        case("in", "{{ sample.id }}", ["1", "3"], [], [1, 3]),
        case("in", "{{ sample.n }}", [5], [1, 2]),
        case("in", "{{ sample.n }}", [], []),
        case("not_in", "{{ sample.n }}", [], [1, 2, 3]),
        case("in", "{{ sample.l }}", ["a", "b"], []),
        case("greater_than", "{{ sample.n }}", 4, [1, 2, 3]),
        case("greater_than", "{{ sample.n }}", 5, [3]),
        case("greater_or_equal", "{{ sample.n }}", 10, [3]),
        case("less_than", "{{ sample.n }}", 10, [1, 2]),
        case("less_or_equal", "{{ sample.n }}", "5", ERROR, [1, 2]),
        case("less_or_equal", "{{ sample.n }}", "five", ERROR, ERROR),
        case("greater_than", "{{ sample.s }}", 1, ERROR, ERROR),
        case("greater_than", "{{ sample.l }}", 1, ERROR, ERROR),
        case("equals", "{{ sample.f }}", 1.5, [1, 3]),
        case("equals", "{{ sample.f }}", "1.5", [], [1]),
        case("equals", "{{ sample.b }}", True, [1], [1, 3]),
        case("equals", "{{ sample.b }}", "true", [3], [1, 3]),
        case("equals", "{{ sample.b }}", "True", [], [1]),
        case("equals", "{{ sample.b }}", 1, [1]),
        case("is_true", "{{ sample.b }}", None, ERROR, [1, 3]),
        case("is_false", "{{ sample.b }}", None, ERROR, [2]),
        case("is_true", "{{ sample.n }}", None, ERROR, ERROR),
        case("is_true", "{{ none }}", None, ERROR, ERROR),
        case("equals", "{{ sample.x }}", "y", ERROR, ERROR),
        case("exists", "{{ sample.x }}", None, [1, 3]),
        case("not_exists", "{{ sample.x }}", None, [2]),
        case("exists", "{{ sample.l[0] }}", None, [1, 3]),
        case("exists", "{{ sample.x.y.z }}", None, []),
        case("exists", "constant", None, [1, 2, 3]),
        case("equals", "{{ sample.l | length }}", 2, [1]),
        case("equals", "pre {{ sample.s }}", "pre abc", [1]),
        case("is_true", "{{ sample.s == 'abc' }}", None, [1]),
        case("equals", "{{ sample['a b'] }}", 2, [2]),
        case("equals", "sample.s", "sample.s", [1, 2, 3]),
        case("greater_than", "{{ sample.n + 1 }}", 1, ERROR, ERROR),
    ],
)
def test_what_filters_keep(op: str, expression: str, value: Any, strict: Any, lenient: Any):
    filter = make(op, expression, value)
    assert kept(filter, strict=True) == strict
    assert kept(filter, strict=False) == lenient


@pytest.mark.parametrize(
    "definition",
    [
        {"op": "equals", "expression": "{{ sample.a b }}", "value": 1},
        {"op": "like", "expression": "{{ sample.a }}", "value": 1},
        {"op": "equals", "expression": "{{ sample.a }}"},
        {"op": "in", "expression": "{{ sample.a }}", "value": 1},
        {"op": "exists", "expression": "{{ sample.a }}", "value": 1},
    ],
)
def test_bad_filters_are_refused_at_load(definition: dict[str, Any]):
    with pytest.raises(ValidationError):
        TypeAdapter(Filter).validate_python(definition)


@pytest.mark.parametrize("value", ["1", 1, 1.5, True])
def test_the_kind_of_the_value_is_kept(value: Any):
    assert type(make("equals", "x", value).value) is type(value)


def test_an_error_says_operator_and_value():
    with pytest.raises(SampleError, match="'is_true' needs true or false, not 'maybe'"):
        make("is_true", "{{ sample.a }}").matches(sample={"a": "maybe"})


SCALAR = st.text(max_size=5) | st.integers() | st.booleans() | st.floats(allow_nan=False, width=32)
SPELLED = SCALAR | SCALAR.map(str) | SCALAR.map(repr)


@given(SPELLED, SCALAR.filter(lambda v: v == v and v not in (float("inf"), float("-inf"))))
def test_lenient_keeps_what_strict_keeps_and_negation_is_the_complement(cell: Any, value: Any):
    for op, negative in (("equals", "not_equals"), ("in", "not_in")):
        held = [value] if op == "in" else value
        positive = make(op, "{{ sample.c }}", held)
        lenient = positive.matches(sample={"c": cell})
        assert lenient or not positive.matches(strict=True, sample={"c": cell})
        assert make(negative, "{{ sample.c }}", held).matches(sample={"c": cell}) != lenient
