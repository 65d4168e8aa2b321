"""Parquet files: any place in any order, values as JSON has them."""

import datetime as dt
import decimal
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.sources import LocalSource, Rows
from tasks_lib.sources.parquet import ParquetTable


def open_parquet(folder: Path, table: pa.Table, **writing: Any) -> Rows:
    file = folder / "data.parquet"
    pq.write_table(table, file, **writing)
    return LocalSource(file_path="data.parquet").open(file)


UTC = dt.UTC
DAY = dt.datetime(2024, 1, 2, 3, 4, 5, 6000)


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        pytest.param([1, None], pa.int64(), [1, None], id="integers with null stay integers"),
        pytest.param([2**63], pa.uint64(), [2**63], id="large unsigned"),
        pytest.param([1.5, float("nan"), None], pa.float64(), [1.5, None, None], id="NaN is null"),
        pytest.param([True], pa.bool_(), [True], id="booleans"),
        pytest.param([DAY], pa.timestamp("us"), ["2024-01-02T03:04:05.006000"], id="times"),
        pytest.param([DAY], pa.timestamp("ns"), ["2024-01-02T03:04:05.006000"], id="ns times"),
        pytest.param(
            [DAY], pa.timestamp("ms", "UTC"), ["2024-01-02T03:04:05.006000+00:00"], id="zoned"
        ),
        pytest.param([DAY.date()], pa.date32(), ["2024-01-02"], id="dates"),
        pytest.param([DAY.time()], pa.time64("us"), ["03:04:05.006000"], id="times of day"),
        pytest.param([dt.timedelta(minutes=1)], pa.duration("s"), [60.0], id="durations"),
        pytest.param([decimal.Decimal("1.50")], pa.decimal128(9, 2), [1.5], id="decimals"),
        pytest.param(
            [decimal.Decimal("12345678901234567890")],
            pa.decimal128(20, 0),
            [12345678901234567890],
            id="whole decimals",
        ),
        pytest.param(
            [decimal.Decimal("0.12345678901234567890")],
            pa.decimal128(20, 20),
            ["0.12345678901234567890"],
            id="decimals too fine for a float",
        ),
        pytest.param(["é".encode(), b"\xff"], pa.binary(), ["é", "/w=="], id="bytes"),
        pytest.param(
            ["a", "b"], pa.dictionary(pa.int8(), pa.string()), ["a", "b"], id="categories"
        ),
        pytest.param([[1, None], None], pa.list_(pa.int8()), [[1, None], None], id="lists"),
        pytest.param(
            [{"a": [{"b": DAY.date()}]}],
            pa.struct({"a": pa.list_(pa.struct({"b": pa.date32()}))}),
            [{"a": [{"b": "2024-01-02"}]}],
            id="nested",
        ),
        pytest.param([{"k": 1}], pa.map_(pa.string(), pa.int8()), [{"k": 1}], id="maps"),
        pytest.param([None], pa.null(), [None], id="nothing at all"),
    ],
)
def test_values_are_as_json_has_them(
    tmp_path: Path, values: list[Any], kind: pa.DataType, expected: list[Any]
):
    rows = open_parquet(tmp_path, pa.table({"c": pa.array(values, kind)}))
    found = [sample.data["c"] for sample in rows.read(0, 9)]
    assert found == expected
    assert json.loads(json.dumps(found, allow_nan=False)) == expected


@pytest.mark.parametrize("group", [1, 7, 1000, 10_000])
def test_rows_are_found_in_any_order(tmp_path: Path, group: int):
    table = pa.table({"n": range(5000), "t": [f"t{n}" for n in range(5000)]})
    rows = open_parquet(tmp_path, table, row_group_size=group)
    assert rows.columns == ("n", "t")
    for places in ([4999], [0, 1, 2], range(1020, 1030), [3, 1, 2], [2048, 1, 4000, 1], []):
        samples = rows.take(places)
        assert [sample.data for sample in samples] == [{"n": n, "t": f"t{n}"} for n in places]
        assert [sample.index for sample in samples] == list(places)
        assert [sample.id for sample in samples] == [str(place) for place in places]


def test_ids_come_from_the_id_column_and_may_not_repeat(tmp_path: Path):
    rows = open_parquet(tmp_path, pa.table({"sample_id": [7, 8]}))
    assert [sample.id for sample in rows.read(0, 2)] == ["7", "8"]
    with pytest.raises(DefinitionError, match=r"row 3: sample_id 'a' is there twice.* row 1"):
        open_parquet(tmp_path, pa.table({"sample_id": ["a", "b", "a"]}))


def test_no_rows(tmp_path: Path):
    rows = open_parquet(tmp_path, pa.table({"a": pa.array([], pa.int8())}))
    assert (len(rows), rows.read(0, 5), rows.columns) == (0, [], ("a",))


def test_equal_column_names_are_refused(tmp_path: Path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(DefinitionError, match="are there twice"):
        open_parquet(tmp_path, table)


@pytest.mark.parametrize("content", [b"", b"a,b\n1,2\n", b"PAR1" + b"x" * 50 + b"PAR1"])
def test_other_files_are_refused(tmp_path: Path, content: bytes):
    file = tmp_path / "x.parquet"
    file.write_bytes(content)
    with pytest.raises(DefinitionError, match=r"x\.parquet: not a Parquet file"):
        LocalSource(file_path="x.parquet").open(file)


def zeros(path, rows: int, **options):
    """A file whose bytes are nearly all the same."""
    column = pa.array(["0" * 1000] * rows)
    pq.write_table(pa.table({"x": column}), path, use_dictionary=False, **options)
    return path


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path, monkeypatch):
    file = zeros(tmp_path / "bomb.parquet", 50_000, compression="zstd")
    monkeypatch.setattr("tasks_lib.sources.parquet.MAX_RATIO", 100)
    assert len(ParquetTable(file)) == 50_000
    monkeypatch.setattr("tasks_lib.sources.parquet.RATIO_FLOOR", 1 << 20)
    with pytest.raises(DefinitionError, match=r"has 50,\d{3},\d{3} bytes unpacked, more than 100 "):
        ParquetTable(file)


def test_a_row_group_larger_than_memory_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("tasks_lib.sources.parquet.MAX_GROUP", 1 << 20)
    with pytest.raises(DefinitionError, match="a row group of"):
        ParquetTable(zeros(tmp_path / "bomb.parquet", 50_000))
    split = zeros(tmp_path / "split.parquet", 2_000, row_group_size=500)
    assert len(ParquetTable(split)) == 2_000


def test_more_rows_than_could_be_told_apart_are_refused(tmp_path, monkeypatch):
    pq.write_table(pa.table({"x": pa.array([None] * 5_000, pa.int8())}), tmp_path / "x.parquet")
    monkeypatch.setattr("tasks_lib.sources.parquet.MAX_ROWS", 1_000)
    with pytest.raises(DefinitionError, match="has 5,000 rows, more than 1,000"):
        ParquetTable(tmp_path / "x.parquet")
