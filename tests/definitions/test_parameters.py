"""Parameters: what each type takes, and what it makes of it."""

import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.definitions.parameters import ParameterSpec, check_parameter_keys

ADAPTER = TypeAdapter(ParameterSpec)


def parameter(kind: str, **fields) -> ParameterSpec:
    return ADAPTER.validate_python({"type": kind, "key": "k", "display_name": "K", **fields})


CHOICE = {"allowed_values": ["low", "high"]}


@pytest.mark.parametrize(
    ("kind", "fields", "value", "accepted"),
    [
        pytest.param("float", {}, 3, 3.0, id="an int is widened"),
        pytest.param("float", {}, "0.5", 0.5, id="a number as text"),
        pytest.param("float", {"min": 0, "max": 1}, 1, 1.0, id="the limits are inside"),
        pytest.param("int", {}, "42", 42, id="a whole number as text"),
        pytest.param("int", {}, 5.0, 5, id="a whole float"),
        pytest.param("boolean", {}, "yes", True, id="yes"),
        pytest.param("boolean", {}, "off", False, id="off"),
        pytest.param("string", {}, "", "", id="empty text"),
        pytest.param("model", {"usage": "judge_model"}, "m", "m", id="model"),
        pytest.param("list", {"dtype": "integer"}, ["1", 2], [1, 2], id="list"),
        pytest.param("dict", {"value_dtype": "float"}, {"a": 1}, {"a": 1.0}, id="mapping"),
        pytest.param("categorical", CHOICE, "low", "low", id="choice"),
        pytest.param("categorical", {**CHOICE, "multiple": True}, [], [], id="no choices"),
    ],
)
def test_values_are_coerced(kind, fields, value, accepted):
    result = parameter(kind, **fields).accept(value)
    assert result == accepted
    assert type(result) is type(accepted)


@pytest.mark.parametrize(
    ("kind", "fields", "value", "complaint"),
    [
        ("float", {}, "much", "'much' is not a number"),
        ("float", {}, True, "True is not a number"),
        ("float", {}, float("nan"), "nan is not a number"),
        ("float", {"min": 0}, -0.1, "-0.1 is below the smallest value allowed, 0.0"),
        ("int", {}, 5.5, "5.5 is not a whole number"),
        ("int", {}, True, "True is not a whole number"),
        ("int", {"max": 5}, 6, "6 is above the largest value allowed, 5"),
        ("boolean", {}, "maybe", "'maybe' is not true or false"),
        ("string", {}, 5, "5 is not text; put it in quotes"),
        ("dataset_column", {}, ["a"], "\\['a'\\] is not text"),
        ("list", {"dtype": "string"}, "a", "'a' is not a list"),
        ("list", {"dtype": "integer"}, [1, "x"], "'x' is not a whole number"),
        ("dict", {"value_dtype": "string"}, [1], "is not a mapping"),
        ("categorical", CHOICE, "mid", "'mid' is not one of 'low', 'high'"),
        ("categorical", CHOICE, ["low"], "is not one of"),
        ("categorical", {**CHOICE, "multiple": True}, "low", "'multiple: true' needs one"),
        ("string", {}, {"a": "x" * 1000}, "^.{,200}$"),
    ],
)
def test_other_values_are_refused(kind, fields, value, complaint):
    with pytest.raises(ValueError, match=complaint):
        parameter(kind, **fields).accept(value)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("int", {"min": 3, "default_value": 2}),
        ("categorical", {**CHOICE, "default_value": "mid"}),
        ("list", {"dtype": "integer", "default_value": ["x"]}),
        ("categorical", {"allowed_values": []}),
    ],
)
def test_a_default_must_be_acceptable(kind, fields):
    with pytest.raises(ValidationError, match=r"default_value|allowed_values"):
        parameter(kind, **fields)


def test_a_chosen_text_stands_for_what_it_is_mapped_to():
    choice = parameter("categorical", **CHOICE, values_mapping={"high": 1.5})
    assert [choice.substitute(text) for text in ("low", "high")] == ["low", 1.5]
    both = parameter("categorical", **CHOICE, multiple=True, values_mapping={"low": False})
    assert both.substitute(["low", "high"]) == [False, "high"]


def test_keys_may_hold_spaces_but_not_occur_twice():
    spec = parameter("int", key="max tokens")
    assert check_parameter_keys((spec,)) == (spec,)
    with pytest.raises(ValueError, match="two parameters have the key 'max tokens'"):
        check_parameter_keys((spec, spec))


def test_every_type_has_a_default_to_ask_for():
    assert parameter("int", default_value=5).default == 5
    assert parameter("string").default is None
