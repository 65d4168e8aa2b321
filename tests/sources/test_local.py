"""The local source: files, filters, ids; and rows chosen and set side by side."""

import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks_lib.errors import DefinitionError
from tasks_lib.sources import LocalSource, Rows, align, select

FORMS = ["csv", "jsonl", "parquet"]


def write(folder: Path, form: str, rows: list[dict[str, Any]]) -> Path:
    file = folder / f"data.{form}"
    match form:
        case "csv":
            lines = [list(rows[0]), *(row.values() for row in rows)]
            file.write_text("".join(",".join(map(str, line)) + "\n" for line in lines))
        case "jsonl":
            file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        case "parquet":
            pq.write_table(pa.Table.from_pylist(rows), file, row_group_size=7)
    return file


def numbers(folder: Path, form: str = "jsonl", count: int = 100, **settings: Any) -> Rows:
    file = write(
        folder, form, [{"n": n, "parity": "odd" if n % 2 else "even"} for n in range(count)]
    )
    return LocalSource(file_path=file.name, **settings).open(file)


def values(rows: Rows) -> list[int]:
    return [sample.data["n"] for sample in rows.read(0, len(rows))]


ODD = {"op": "equals", "expression": "{{ sample.parity }}", "value": "odd"}
SMALL = {"op": "less_than", "expression": "{{ sample.n }}", "value": 6}


@pytest.mark.parametrize("form", FORMS)
def test_filters_are_combined_and_ids_stay_those_of_the_file(tmp_path: Path, form: str):
    rows = numbers(tmp_path, form, filters=[ODD, SMALL])
    assert values(rows) == [1, 3, 5]
    samples = rows.read(1, 3)
    assert [(sample.id, sample.index) for sample in samples] == [("3", 1), ("5", 2)]
    assert len(numbers(tmp_path, form, filters=[{**SMALL, "value": -1}])) == 0


def test_a_failing_filter_names_file_line_and_reason(tmp_path: Path):
    file = write(tmp_path, "jsonl", [{"x": 1}, {"y": 2}])
    source = LocalSource.model_validate(
        {"file_path": "d.jsonl", "filters": [{**SMALL, "expression": "{{ sample.x }}"}]}
    )
    with pytest.raises(DefinitionError, match=r"data\.jsonl:2: a filter fails.*'sample\.x'"):
        source.open(file)


def test_repeats_among_rows_that_are_filtered_out_do_not_matter(tmp_path: Path):
    rows = [{"sample_id": "a", "k": 1}, {"sample_id": "a", "k": 2}, {"k": 3}]
    file = write(tmp_path, "jsonl", rows)
    keep = {"op": "equals", "expression": "{{ sample.k }}", "value": 2}
    source = LocalSource.model_validate({"file_path": "d.jsonl", "filters": [keep]})
    assert [sample.id for sample in source.open(file).read(0, 9)] == ["a"]


@pytest.mark.parametrize("path", ["d.xlsx", "d", "d.json", "d.csv.gz"])
def test_other_suffixes_are_refused_at_load(path: str):
    with pytest.raises(ValidationError, match=r"is not a \.csv, \.jsonl or \.parquet file"):
        LocalSource(file_path=path)


@pytest.mark.parametrize("path", ["D.CSV", "<< config.file >>", "$FILE"])
def test_suffixes_in_capitals_and_unknown_paths_pass(path: str):
    assert LocalSource(file_path=path).file_path == path


@pytest.mark.parametrize("form", FORMS)
def test_files_that_cannot_be_read_are_definition_errors(tmp_path: Path, form: str):
    source = LocalSource(file_path=f"x.{form}")
    with pytest.raises(DefinitionError, match=rf"x\.{form}: can't be read: No such file"):
        source.open(tmp_path / f"x.{form}")
    (tmp_path / f"x.{form}").mkdir()
    with pytest.raises(DefinitionError, match=r"is a folder, not a file"):
        source.open(tmp_path / f"x.{form}")
    os.mkfifo(tmp_path / f"pipe.{form}")
    with pytest.raises(DefinitionError, match=r"is a pipe or a device, not a file"):
        source.open(tmp_path / f"pipe.{form}")
    with pytest.raises(DefinitionError, match=r"use one of \.csv"):
        source.open(tmp_path / "x.json")


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_changes_under_a_run_is_an_error(tmp_path: Path, form: str):
    rows = numbers(tmp_path, form)
    write(tmp_path, form, [{"n": 1, "parity": "longer"}] * 101)
    with pytest.raises(DefinitionError, match="changed while it was being read"):
        rows.read(0, 1)
    (tmp_path / f"data.{form}").unlink()
    with pytest.raises(DefinitionError, match="can't be read any more: No such file"):
        rows.read(0, 1)


@pytest.mark.parametrize("form", FORMS)
def test_several_threads_may_read(tmp_path: Path, form: str):
    rows = numbers(tmp_path, form, count=2000)
    barrier = threading.Barrier(4)

    def read(worker: int) -> bool:
        barrier.wait()
        starts = range(worker * 100, 2000, 400)
        return all(
            [s.data["n"] for s in rows.read(at, at + 50)] == list(range(at, at + 50))
            for at in starts
        )

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, range(4)))


def test_fingerprints_tell_content_filters_types_and_choice_apart(tmp_path: Path):
    rows = numbers(tmp_path)
    prints = [
        rows.fingerprint(),
        numbers(tmp_path, filters=[ODD]).fingerprint(),
        numbers(tmp_path, csv_types="text").fingerprint(),
        numbers(tmp_path, count=99).fingerprint(),
        select(rows, 5).fingerprint(),
        select(rows, 5, "random").fingerprint(),
        select(rows, 6, "random").fingerprint(),
    ]
    assert len(set(prints)) == len(prints)
    (tmp_path / "elsewhere").mkdir()
    assert numbers(tmp_path / "elsewhere").fingerprint() == numbers(tmp_path).fingerprint()


def test_head_and_random_selection(tmp_path: Path):
    rows = numbers(tmp_path)
    assert values(select(rows, 3)) == [0, 1, 2]
    chosen = values(select(rows, 10, "random"))
    assert chosen == sorted(chosen) == values(select(rows, 10, "random"))
    assert chosen == [5, 33, 38, 49, 51, 53, 61, 62, 65, 97]  # part of the contract: seed 0
    assert select(rows, None) is rows
    assert select(rows, 100, "random") is rows
    assert len(select(rows, 0)) == 0


@given(st.integers(0, 120), st.sampled_from(["head", "random"]), st.data())
def test_a_selection_is_some_of_the_rows_in_order_and_renumbered(
    tmp_path_factory: pytest.TempPathFactory, count: int, how: Any, data: st.DataObject
):
    rows = numbers(tmp_path_factory.getbasetemp(), filters=[ODD])
    chosen = select(rows, count, how)
    assert len(chosen) == min(count, len(rows))
    samples = chosen.read(0, len(chosen))
    assert [sample.index for sample in samples] == list(range(len(chosen)))
    assert values(chosen) == sorted(set(values(chosen)) & set(values(rows)))
    assert all(sample.id == str(sample.data["n"]) for sample in samples)
    start = data.draw(st.integers(0, 60))
    stop = data.draw(st.integers(0, 60))
    assert chosen.read(start, stop) == samples[start:stop]


def test_aligned_rows_map_names_to_rows(tmp_path: Path):
    named = write(tmp_path, "jsonl", [{"sample_id": "a"}, {"sample_id": "b"}])
    left = LocalSource(file_path="l.jsonl").open(named)
    right = numbers(tmp_path, "csv", count=2)
    both = align({"left": left, "right": right})
    assert both.columns == ("left", "right")
    (second,) = both.read(1, 2)
    assert (second.id, second.index) == ("b", 1)
    assert second.data == {"left": {"sample_id": "b"}, "right": {"n": 1, "parity": "odd"}}
    assert both.fingerprint() != align({"l": left, "right": right}).fingerprint()
    with pytest.raises(DefinitionError, match="differ in length: 'a' has 2, 'b' has 3 rows"):
        align({"a": left, "b": numbers(tmp_path, "parquet", count=3)})


def test_uneven_rows_are_as_many_as_those_of_the_first(tmp_path: Path):
    two, three = (numbers(tmp_path, suffix, count=n) for suffix, n in (("csv", 2), ("jsonl", 3)))
    longer = align({"a": two, "b": three}, uneven=True)
    assert (len(longer), longer.uneven) == (2, True)
    assert [sorted(sample.data) for sample in longer.read(0, 9)] == [["a", "b"]] * 2
    shorter = align({"a": three, "b": two}, uneven=True)
    assert [sorted(sample.data) for sample in shorter.read(0, 3)] == [["a", "b"]] * 2 + [["a"]]
    assert shorter.take([2, 1])[1].data["b"]["n"] == 1
