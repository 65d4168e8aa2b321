import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.results.score_kinds import joined_kind, kind_of
from tasks_lib.results.score_records import ScoreRecord, score_table
from tasks_lib.results.scores import field_kinds


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (None, "null"),
        (True, "bool"),
        (1, "number"),
        (0.5, "number"),
        (math.nan, "number"),
        (2**53, "number"),
        pytest.param(2**53 + 1, "json", id="an integer that no float64 equals"),
        pytest.param(10**400, "json", id="an integer beyond all floats"),
        ("C", "text"),
        ({"style": 0.5}, "json"),
        ([1], "json"),
    ],
)
def test_the_kind_of_a_value(value: Any, kind: str):
    assert kind_of(value) == kind


KINDS = ["bool", "share", "number", "text", "json", "null"]


@given(st.lists(st.sampled_from(KINDS), min_size=1))
def test_joined_kinds_do_not_depend_on_the_order(kinds: list[Any]):
    def joined(order: list[Any]) -> str:
        kind = "null"
        for other in order:
            kind = joined_kind(kind, other)  # type: ignore[arg-type]
        return kind

    assert joined(kinds) == joined(kinds[::-1]) == joined(sorted(kinds))
    assert joined([*kinds, "null"]) == joined(kinds)


def test_a_share_is_stored_as_one():
    values = [{"s": 0.5, "n": 3}, {"s": 1, "n": 4}]
    rows = [ScoreRecord(str(i), i, 0, 0, "ok", values=v) for i, v in enumerate(values)]
    assert field_kinds(score_table(rows, {"s"}).schema) == {"s": "share", "n": "number"}
