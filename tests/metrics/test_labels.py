import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.metrics.labels import label, label_counts, label_pairs
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", "a"),
        (True, "True"),
        (3, "3"),
        (3.0, "3"),
        (0.5, "0.5"),
        (None, "None"),
        ([1, "b"], '[1,"b"]'),
        ({"a": None}, '{"a":null}'),
    ],
)
def test_the_text_of_a_label(value, text):
    assert label(value) == text


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_null_counts_or_does_not(make):
    table = make(["a", None, "a"])
    assert label_counts(table, "x") == {"a": 2, "None": 1}
    assert label_counts(table, "x", with_null=False) == {"a": 2}


VALUES = st.sampled_from(["a", "b", None])


@given(st.lists(st.tuples(VALUES, VALUES), min_size=1))
def test_pairs_are_the_same_however_each_column_is_stored(pairs):
    expected = {pair: pairs.count(pair) for pair in pairs if None not in pair}
    ones, others = map(list, zip(*pairs, strict=True))
    for first, second in ((listed, listed), (listed, stored), (stored, listed), (stored, stored)):
        columns = {"one": first(ones).stored("x"), "other": second(others).stored("x")}
        table = ScoreTable(columns, None, Counts(len(pairs)))
        assert label_pairs(table, "one", "other") == expected


def test_a_field_can_be_paired_with_itself():
    table = stored(["a", "b"])
    assert label_pairs(table, "x", "x") == {("a", "a"): 1, ("b", "b"): 1}


def test_lacking_and_nan_are_no_label():
    table = ScoreTable({"a": [1, MISSING, 1], "b": [2, 2, float("nan")]}, None, Counts(3))
    assert label_pairs(table, "a", "b") == {("1", "2"): 1}
