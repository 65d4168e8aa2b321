"""What dataset_quality finds in rows."""

from typing import Any

import pytest

from tests.catalog.snippets import snippet

ROWS = snippet("dataset_quality/rows.py", columns=["q", "a"], unique_columns=["q"])


def found(*rows: dict[str, Any]) -> list[list[str]]:
    """The findings of each row."""
    return [
        [name for name, value in entry["scores"].items() if value and name != "is_sound"]
        for entry in ROWS.compute_scores(list(rows))
    ]


@pytest.mark.parametrize("value", [None, "", "  ", "N/A", "TBD", "?", float("nan"), [], {}, "null"])
def test_nothing_and_words_for_nothing_are_missing(value: Any):
    assert found({"q": "one", "a": value}) == [["is_missing"]]


@pytest.mark.parametrize("value", [0, False, "0", "no", "none of them", [None]])
def test_a_value_is_not_missing(value: Any):
    assert found({"q": "one", "a": value}) == [[]]


def test_an_absent_column_is_missing():
    assert found({"q": "one"}) == [["is_missing"]]


def test_the_first_of_equal_rows_is_sound():
    one = {"q": "What is it?", "a": "x"}
    near = {"q": "what is  it", "a": "y"}
    assert found(one, one, near, near) == [
        [],
        ["is_duplicate"],
        ["is_near_duplicate"],
        ["is_duplicate"],
    ]
    metadata = [
        entry["metadata"] for entry in ROWS.compute_scores([one, {"q": "b", "a": "b"}, near])
    ]
    assert [entry["repeats_row"] for entry in metadata] == [None, None, 1]


def test_a_far_longer_text_is_an_outlier_and_small_differences_are_not():
    rows = [{"q": f"{number} " + "x" * number, "a": "a" * (number + 1)} for number in range(20)]
    assert found(*rows) == [[]] * 20
    long = {"q": "long", "a": "a" * 5_000}
    assert found(*rows, long)[-1] == ["is_outlier"]
    assert ROWS.compute_scores([*rows, long])[-1]["metadata"]["unusual_length"] == ["a"]


def test_sound_is_without_a_finding():
    scores = ROWS.compute_scores([{"q": "one", "a": "x"}, {"q": "two", "a": ""}])
    assert [entry["scores"]["is_sound"] for entry in scores] == [True, False]


def test_scores_of_no_rows():
    assert ROWS.compute_scores([]) == []
