import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.trace.jsontext import copy_json, dumps, loads

EXACT_VALUES = [
    pytest.param({"id": 123456789012345678901234567890}, id="an integer beyond 64 bits"),
    pytest.param({"id": -(2**70)}, id="a negative integer beyond 64 bits"),
    pytest.param({"text": "half a pair \ud83d, alone"}, id="a lone surrogate"),
    pytest.param(["\ud800", 2**64, "\u00e9", 0.1], id="both, among ordinary things"),
    pytest.param({"text": "9" * 40}, id="a long number inside text"),
]


@pytest.mark.parametrize("value", EXACT_VALUES)
def test_nothing_is_lost_where_the_fast_way_is_not_exact(value):
    text = dumps(value)
    text.encode()
    assert loads(text) == value
    assert loads(text.encode()) == value


def test_ordinary_data_is_written_compactly():
    assert dumps({"a": [1, "\u00e9"]}) == '{"a":[1,"\u00e9"]}'


def test_indent_is_for_people():
    assert dumps({"a": 1}, indent=2) == '{\n  "a": 1\n}'


def test_what_json_has_no_form_for_is_refused():
    with pytest.raises(TypeError):
        dumps({"a": {1, 2}})


def test_nesting_without_end_is_a_value_error():
    with pytest.raises(ValueError, match="nested too deeply"):
        loads("[" * 100_000)


def test_text_that_is_not_json_is_a_value_error():
    with pytest.raises(ValueError, match="Expecting"):
        loads("{")


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON)
def test_any_json_survives_and_is_read_as_the_standard_library_reads_it(value):
    text = dumps(value)
    assert loads(text) == value == json.loads(text)
    assert copy_json(value) == value
