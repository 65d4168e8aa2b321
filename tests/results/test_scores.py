from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import loads
from tasks_lib.metrics.mean import Mean
from tasks_lib.results.folder import part_name, parts
from tasks_lib.results.metric_rows import metric_input
from tasks_lib.results.parquet import write_table
from tasks_lib.results.schemas import (
    SCORE_COLUMNS,
)
from tasks_lib.results.score_records import score_table
from tasks_lib.results.scores import (
    column_name,
    field_kinds,
    read_scores,
    score_name,
    unify_scores,
)
from tests.results.rows import scored


def write_scores(folder: Path, batches: list[list[dict[str, Any] | None]]) -> None:
    start = 0
    for batch in batches:
        table = score_table(scored(batch, start))
        write_table(folder / part_name(start, start + len(batch)), table)
        start += len(batch)


def values(folder: Path, name: str) -> list[Any]:
    return read_scores(folder).column(name).to_pylist()


def test_each_kind_has_its_type():
    rows = [{"b": True, "n": 1, "t": "x", "j": [1], "z": None}, {"n": 0.5}, None]
    table = score_table(scored(rows))
    assert field_kinds(table.schema) == {
        "b": "bool",
        "n": "number",
        "t": "text",
        "j": "json",
        "z": "null",
    }
    assert table.select(["b", "n", "t", "j", "z"]).to_pylist() == [
        {"b": True, "n": 1.0, "t": "x", "j": "[1]", "z": None},
        {"b": None, "n": 0.5, "t": None, "j": None, "z": None},
        {"b": None, "n": None, "t": None, "j": None, "z": None},
    ]


def test_values_of_all_kinds_fit_one_column(tmp_path: Path):
    """BR-085."""
    rows = [{"score": value} for value in (1, "C", {"style": 0.5}, None, True)]
    write_scores(tmp_path, [rows])
    assert values(tmp_path, "score") == ["1", '"C"', '{"style":0.5}', None, "true"]


def test_no_integer_is_lost(tmp_path: Path):
    """BR-030."""
    write_scores(tmp_path, [[{"n": 1}], [{"n": 2**53 + 1}], [{"n": 10**400}]])
    assert [loads(text) for text in values(tmp_path, "n")] == [1, 2**53 + 1, 10**400]
    found = metric_input(read_scores(tmp_path)).column("n")
    assert found == [1, 2**53 + 1, 10**400]


ODD_NAMES = ["status", "sample_id", "score.status", "score.score.x", "a.b", "ü\0 ", "trial", ""]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_score_may_have_any_name(tmp_path: Path, name: str):
    write_scores(tmp_path, [[{name: True}], [{name: False, "other": 1}]])
    unify_scores(tmp_path)
    table = read_scores(tmp_path)
    assert table.column("status").to_pylist() == ["ok", "ok"]
    assert metric_input(table).column(name) == [True, False]


@given(st.text())
def test_names_of_columns_lead_back_to_the_score(name: str):
    assert score_name(column_name(name)) == name
    assert column_name(name) not in SCORE_COLUMNS


def test_half_a_character_in_a_name_costs_no_batch(tmp_path: Path):
    write_scores(tmp_path, [[{"half \ud800": "half \udc00"}]])
    assert values(tmp_path, "half \ufffd") == ["half \ufffd"]


def test_a_field_that_comes_later_is_null_before(tmp_path: Path):
    """BR-082."""
    write_scores(tmp_path, [[{"a": None}, {"a": None}], [{"a": "timeout"}], [{"reason": "ok"}]])
    assert unify_scores(tmp_path) == {"a": "text", "reason": "text"}
    schemas = [pq.read_schema(part) for part in parts(tmp_path)]
    assert all(schema.equals(schemas[0], check_metadata=True) for schema in schemas)
    frame = pd.read_parquet(tmp_path)
    assert list(frame["a"].isna()) == [True, True, False, True]
    assert list(frame["reason"].isna()) == [True, True, True, False]


def test_unifying_again_changes_nothing(tmp_path: Path):
    write_scores(tmp_path, [[{"a": 1}], [{"a": "x"}]])
    unify_scores(tmp_path)
    before = [part.read_bytes() for part in parts(tmp_path)]
    written = [part.stat().st_mtime_ns for part in parts(tmp_path)]
    unify_scores(tmp_path)
    assert [part.read_bytes() for part in parts(tmp_path)] == before
    assert [part.stat().st_mtime_ns for part in parts(tmp_path)] == written


def test_scores_can_be_read_before_they_have_one_schema(tmp_path: Path):
    write_scores(tmp_path, [[{"a": True}], [{"a": 0.5, "b": "x"}]])
    early = read_scores(tmp_path)
    unify_scores(tmp_path)
    assert early.equals(read_scores(tmp_path))
    assert early.column("a").to_pylist() == ["true", "0.5"]


def test_without_any_scores_there_is_a_store_error(tmp_path: Path):
    with pytest.raises(StoreError, match="there are no scores; resume the run"):
        read_scores(tmp_path)


SCORE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(),
    st.lists(st.integers(), max_size=2),
)


ROW = st.none() | st.dictionaries(st.sampled_from(["a", "b"]), SCORE)


@given(st.lists(ROW, min_size=1, max_size=8), st.integers(1, 8))
def test_how_rows_are_cut_into_batches_does_not_show(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], size: int
):
    one, many = tmp_path_factory.mktemp("one"), tmp_path_factory.mktemp("many")
    write_scores(one, [rows])
    write_scores(many, [rows[i : i + size] for i in range(0, len(rows), size)])
    unify_scores(many)
    whole, cut = read_scores(one), read_scores(many)
    assert field_kinds(cut.schema) == field_kinds(whole.schema)
    for name in whole.schema.names:
        assert repr(cut.column(name).to_pylist()) == repr(whole.column(name).to_pylist())


def test_metrics_of_a_column_of_json_are_those_of_the_numbers(tmp_path: Path):
    write_scores(tmp_path, [[{"a": 1}, {"a": None}], [{"a": 2**53 + 1}, None]])
    (mean,) = Mean(type="mean", field="a").compute(metric_input(read_scores(tmp_path)))
    assert mean.value == pytest.approx(2**52 + 1)
