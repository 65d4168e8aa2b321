"""Config parameters: their values, and their substitution."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from tasks_lib.config import (
    effective_values,
    parse_setting,
    placeholder_names,
    substitute,
    substituted_values,
    whole_placeholder,
)
from tasks_lib.definitions.parameters import ParameterSpec

ADAPTER = TypeAdapter(ParameterSpec)


def parameter(type, **fields):
    return ADAPTER.validate_python({"type": type, "key": "p", "display_name": "P", **fields})


@pytest.fixture
def problems():
    return []


@pytest.fixture
def report(problems):
    return lambda path, problem, fix: problems.append((path, problem, fix))


ABSENT = object()
CATEGORIES = {"allowed_values": ["low", "high"]}


@pytest.mark.parametrize(
    ("fields", "supplied", "expected", "complaint"),
    [
        pytest.param({"default_value": 3}, {}, 3, None, id="the default"),
        pytest.param({"default_value": 3}, {"p": 4}, 4, None, id="supplied over default"),
        pytest.param({"nullable": True}, {}, None, None, id="null where allowed"),
        pytest.param({"nullable": True, "default_value": 3}, {"p": None}, None, None, id="null"),
        pytest.param({}, {}, ABSENT, "'p' has no value", id="null where not allowed"),
        pytest.param({"max": 5}, {"p": 9}, ABSENT, "above the", id="a bad value"),
        pytest.param({"default_value": 1}, {"q": 2}, 1, "unknown config parameter 'q'", id="typo"),
    ],
)
def test_effective_values(fields, supplied, expected, complaint, problems, report):
    values = effective_values([parameter("int", **fields)], supplied, report)
    assert values == ({} if expected is ABSENT else {"p": expected})
    assert [complaint in text for _, text, _ in problems] == ([True] if complaint else [])


def test_a_model_parameter_with_a_usage_takes_the_model_of_that_usage(problems, report):
    spec = parameter("model", usage="model_under_test")
    assert effective_values([spec], {}, report, {"model_under_test": "m"}) == {"p": "m"}
    assert effective_values([spec], {"p": "own"}, report, {"model_under_test": "m"}) == {"p": "own"}
    assert not problems


def test_values_mapping_changes_what_is_substituted_only_where_it_says_so():
    spec = parameter("categorical", values_mapping={"low": 0.1}, **CATEGORIES)
    assert substituted_values([spec], {"p": "low"}) == {"p": 0.1}
    assert substituted_values([spec], {"p": "high"}) == {"p": "high"}


@pytest.mark.parametrize(
    ("spec", "text", "expected"),
    [
        pytest.param(parameter("string"), "[a", "[a", id="text is not read as yaml"),
        pytest.param(parameter("int", nullable=True), "null", None, id="null"),
        pytest.param(parameter("string"), "null", "null", id="null as text"),
        pytest.param(parameter("list", dtype="string"), "a, b", ["a", "b"], id="with commas"),
        pytest.param(parameter("list", dtype="integer"), "[1, 2]", [1, 2], id="yaml list"),
        pytest.param(parameter("dict", value_dtype="float"), "{a: 1}", {"a": 1}, id="yaml map"),
    ],
)
def test_settings(spec, text, expected):
    assert parse_setting(spec, text) == expected


VALUES = {
    "n": 3,
    "f": 0.5,
    "b": True,
    "none": None,
    "l": ["a", 1],
    "d": {"k": 1},
    "s": "text",
    "a b": "spaced",
    "x.y": "dotted",
    "again": "<< config.n >>",
}


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        pytest.param("<< config.n >>", 3, id="an int keeps its type"),
        pytest.param(" <<config.b>> ", True, id="spaces are optional"),
        pytest.param("<< config.none >>", None, id="null"),
        pytest.param("<< config.d >>", {"k": 1}, id="a mapping"),
        pytest.param("<< config.a b >>", "spaced", id="a name with a space"),
        pytest.param("<< config.x.y >>", "dotted", id="a name with a dot"),
        pytest.param("n=<< config.n >>, b=<< config.b >>", "n=3, b=True", id="inside text"),
        pytest.param("<< config.l >> << config.none >>", "['a', 1] None", id="written out"),
        pytest.param("{{ sample.<< config.s >> }}", "{{ sample.text }}", id="inside jinja"),
        pytest.param("<< config.again >>", "<< config.n >>", id="not scanned again"),
        pytest.param("-<< config.again >>-", "-<< config.n >>-", id="not scanned again in text"),
        pytest.param(
            {"<< config.s >>": ["<< config.n >>"]}, {"<< config.s >>": [3]}, id="never in keys"
        ),
        pytest.param("<< Config.n >> << secrets.s >>", "<< Config.n >> << secrets.s >>", id="case"),
        pytest.param("1 << 2 >> 1", "1 << 2 >> 1", id="python shifts are left alone"),
    ],
)
def test_substitution(tree, expected, problems, report):
    result = substitute(tree, VALUES, report)
    assert result == expected
    assert type(result) is type(expected)
    assert not problems


def test_an_undefined_name_is_reported_where_it_stands(problems, report):
    tree = {"a": [{"b": "<< config.feild >>"}]}
    assert substitute(tree, {"field": 1}, report) == tree
    assert problems == [
        (("a", 0, "b"), "config parameter 'feild' is not defined", "did you mean 'field'?")
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


@given(value=JSON)
def test_a_whole_placeholder_gives_exactly_the_value(value):
    assert substitute({"k": ["<< config.v >>"]}, {"v": value}, print) == {"k": [value]}


@given(tree=JSON)
def test_a_tree_without_placeholders_is_unchanged(tree):
    if not placeholder_names(tree):
        assert substitute(tree, {}, print) == tree


def test_whole_placeholder():
    assert whole_placeholder("<< config.a >>") == "a"
    assert whole_placeholder("<< config.a >> << config.b >>") is None
    assert whole_placeholder(3) is None


def test_placeholder_names():
    tree = {"a": ["<< config.x >> and <<config.y z>>", 3], "b": {"c": "<< config.x >>"}}
    assert placeholder_names(tree) == {"x", "y z"}
