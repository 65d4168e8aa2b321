import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import dumps, loads
from tasks_lib.metrics.mean import Mean
from tasks_lib.results.folder import part_name, parts
from tasks_lib.results.metric_rows import metric_input
from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import read_samples, statuses, write_samples
from tasks_lib.results.schemas import (
    SAMPLE_COLUMNS,
    SCHEMA_VERSION,
    SCORE_COLUMNS,
    SampleRecord,
    metric_schema,
    sample_schema,
)
from tasks_lib.results.score_kinds import joined_kind, kind_of
from tasks_lib.results.score_records import ScoreRecord, score_table
from tasks_lib.results.scores import (
    column_name,
    field_kinds,
    read_scores,
    score_name,
    unify_scores,
)

RECORD = SampleRecord(
    spec_key="spec",
    sample_id="1",
    sample_index=0,
    trial=0,
    row=0,
    sample='{"q":"?"}',
    trace='{"items":[]}',
    raw_outputs="[]",
    output_text="yes",
    finish_reason="stop",
    status="ok",
    error_stage=None,
    error_class=None,
    error_message=None,
    calls=1,
    ledger_hits=0,
    input_tokens=3,
    output_tokens=5,
    cost_usd=None,
    started_at=1_700_000_000_123_456,
    duration_s=0.25,
)


def scored(values: Sequence[dict[str, Any] | None], first: int = 0) -> list[ScoreRecord]:
    """Scored rows with these values, of samples from `first` on."""
    return [
        ScoreRecord(str(index), index, 0, 0, "ok", values=found)
        for index, found in enumerate(values, first)
    ]


def write_scores(folder: Path, batches: list[list[dict[str, Any] | None]]) -> None:
    start = 0
    for batch in batches:
        table = score_table(scored(batch, start))
        write_table(folder / part_name(start, start + len(batch)), table)
        start += len(batch)


def values(folder: Path, name: str) -> list[Any]:
    return read_scores(folder).column(name).to_pylist()


# samples


def test_samples_come_back_as_they_were_written(tmp_path: Path):
    failed = replace(
        RECORD,
        sample_index=1,
        output_text=None,
        finish_reason=None,
        status="error",
        error_stage="solver",
        error_class="infra",
        error_message="HTTP 500",
        cost_usd=0.5,
    )
    write_samples(tmp_path, 0, 2, [RECORD, failed])
    assert read_samples(tmp_path, 0, 2) == [RECORD, failed]
    assert statuses(tmp_path / part_name(0, 2)) == {"ok": 1, "error": 1}


def test_odd_texts_survive(tmp_path: Path):
    """BR-030."""
    odd = "yes\0no \x1b[2J\x1b[31mred line\r\nline \u2028"
    record = replace(RECORD, output_text=odd, sample=dumps({"n": 10**30, "t": odd + "\ud800"}))
    write_samples(tmp_path, 0, 1, [record])
    (back,) = read_samples(tmp_path, 0, 1)
    assert back == record
    assert loads(back.sample) == {"n": 10**30, "t": odd + "\ud800"}


def test_every_part_of_samples_has_the_same_schema_also_when_nothing_failed(tmp_path: Path):
    """BR-082."""
    write_samples(tmp_path, 0, 1, [replace(RECORD, output_text=None)])
    write_samples(tmp_path, 1, 2, [replace(RECORD, error_message="timeout")])
    write_samples(tmp_path, 2, 3, [])
    for part in parts(tmp_path):
        assert pq.read_schema(part).equals(sample_schema(), check_metadata=True)
    frame = pd.read_parquet(tmp_path)
    assert list(frame["error_message"].dropna()) == ["timeout"]


def test_a_schema_names_its_columns_and_version():
    assert tuple(sample_schema().names) == SAMPLE_COLUMNS
    assert metric_schema().metadata == {
        b"evalmill.table": b"metrics",
        b"evalmill.schema_version": SCHEMA_VERSION.encode(),
    }


def test_a_part_that_is_missing_or_damaged_is_a_store_error(tmp_path: Path):
    with pytest.raises(StoreError, match=r"part-0.*: can't read the part: .*; resume the run"):
        read_samples(tmp_path, 0, 1)
    write_samples(tmp_path, 0, 1, [RECORD])
    file = tmp_path / part_name(0, 1)
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(StoreError, match="resume the run"):
        statuses(file)
    with pytest.raises(StoreError, match="resume the run"):
        unify_scores(tmp_path)


def test_what_can_not_be_made_a_table_leaves_no_file(tmp_path: Path):
    with pytest.raises(pa.ArrowInvalid):
        write_samples(tmp_path, 0, 1, [replace(RECORD, calls="many")])  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


# kinds of scores


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


# one schema


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
