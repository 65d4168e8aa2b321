import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.jsontext import dump_bytes, dumps, loads, storable

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner),
    max_leaves=10,
)


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"id": 123456789012345678901234567890}, id="an integer beyond 64 bits"),
        pytest.param({"id": -(2**70)}, id="a negative integer beyond 64 bits"),
        pytest.param({"text": "half a pair \ud83d, alone"}, id="a lone surrogate"),
        pytest.param(["\ud800", 2**64, "\u00e9", 0.1], id="both, among ordinary things"),
        pytest.param({"text": "9" * 40}, id="a long number inside text"),
        pytest.param({"text": "yes\0no \x1b[2J\r\n\u2028"}, id="BR-030: NUL, ESC and line breaks"),
    ],
)
def test_nothing_is_lost_where_the_fast_way_is_not_exact(value):
    for text in (dumps(value), dump_bytes(value), dump_bytes(value, sort_keys=True)):
        assert loads(text) == value
    dumps(value).encode()  # storable as UTF-8


@pytest.mark.parametrize("before", range(7))
def test_a_long_integer_is_exact_wherever_it_stands(before: int):
    assert loads(f"{' ' * before}[{2**64}]") == [2**64]
    assert loads(f"{' ' * before}[-{2**63 + 1}]") == [-(2**63) - 1]


@given(JSON)
def test_any_json_survives_and_is_read_as_the_standard_library_reads_it(value):
    text = dumps(value)
    assert loads(text) == value == json.loads(text)
    assert loads(dump_bytes(value, sort_keys=True)) == value


def test_ordinary_data_is_written_compactly():
    assert dumps({"a": [1, "\u00e9"]}) == '{"a":[1,"\u00e9"]}'


@pytest.mark.parametrize("beside", [1, 2**70], ids=["written fast", "written exactly"])
@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_that_json_lacks_become_null(number: float, beside: int):
    assert dumps({"a": [number, beside]}) == f'{{"a":[null,{beside}]}}'


@pytest.mark.parametrize("beside", [1, 2**70], ids=["written fast", "written exactly"])
def test_sorted_keys_make_the_order_of_writing_no_matter(beside: int):
    one = {"b": {"d": 1, "c": beside}, "a": 2}
    other = {"a": 2, "b": {"c": beside, "d": 1}}
    assert dump_bytes(one, sort_keys=True) == dump_bytes(other, sort_keys=True)


@pytest.mark.parametrize("write", [dumps, dump_bytes])
def test_what_json_has_no_form_for_is_refused(write):
    with pytest.raises(TypeError):
        write({"a": {1, 2}})
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(TypeError, match="nested too deeply"):
        write(circle)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Expecting"),
        ("", "Expecting"),
        ("[" * 100_000, "nested too deeply"),
        (b"\xff\xfe", "can't decode"),
    ],
)
def test_text_that_is_not_json_is_a_value_error(text: str | bytes, complaint: str):
    with pytest.raises(ValueError, match=complaint):
        loads(text)


def test_a_byte_order_mark_is_no_part_of_the_json():
    assert loads(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


def test_deep_nesting_that_can_be_read_can_be_written():
    text = "[" * 600 + "]" * 600
    assert dumps(loads(text)) == text


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("yes\0no\x1b[31m\r\n", "yes\0no\x1b[31m\r\n", id="control characters stay"),
        pytest.param("a\ud800b", "a\ufffdb", id="a lone surrogate becomes one mark"),
        pytest.param("\ud83d\ude00", "\U0001f600", id="two halves become the character"),
        pytest.param("\udc00\ud800", "\ufffd\ufffd", id="halves in the wrong order"),
        pytest.param("Zürich", "Zürich", id="what UTF-8 can hold"),
    ],
)
def test_text_is_made_storable(text: str, stored: str):
    assert storable(text) == stored


@given(st.text(st.characters()))
def test_any_text_can_be_stored(text: str):
    assert storable(text).encode("utf-8").decode("utf-8") == storable(storable(text))
