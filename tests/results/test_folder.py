from pathlib import Path

import pytest

from tasks_lib.errors import StoreError
from tasks_lib.results.files import write_json
from tasks_lib.results.folder import (
    RunFolder,
    part_name,
    part_range,
    parts,
    read_record,
    run_folders,
)


def test_everything_has_its_place(tmp_path: Path):
    folder = RunFolder(tmp_path / "store" / "runs" / "run-1")
    assert (folder.run_id, folder.store) == ("run-1", tmp_path / "store")
    places = [
        folder.run_json,
        folder.resolved,
        folder.metrics,
        folder.complete,
        folder.samples("exam"),
        folder.scores("exam", "right"),
    ]
    assert [str(place.relative_to(folder.path)) for place in places] == [
        "run.json",
        "resolved.yaml",
        "metrics.parquet",
        "complete",
        "samples/exam",
        "scores/exam/right",
    ]


@pytest.mark.parametrize(("start", "stop"), [(0, 1), (999_999, 1_000_000), (0, 123_456_789)])
def test_a_parts_name_states_its_range_and_sorts_by_it(start: int, stop: int):
    assert part_range(Path(part_name(start, stop))) == (start, stop)
    assert part_name(start, stop) < part_name(stop, stop + 1)


def test_only_finished_parts_are_parts(tmp_path: Path):
    names = [part_name(5, 9), part_name(0, 5)]
    for name in [*names, f".{names[0]}.123.tmp", "notes.txt", "part-1.parquet"]:
        (tmp_path / name).touch()
    assert [path.name for path in parts(tmp_path)] == sorted(names)
    assert parts(tmp_path / "missing") == []
    with pytest.raises(ValueError, match=r"'notes\.txt' is no part"):
        part_range(tmp_path / "notes.txt")


def test_runs_are_listed_newest_first(tmp_path: Path):
    started = {"20250101T000000Z-e-aaaaaa": "2025", "mine": "2024", "20260101T000000Z-a": "2026"}
    (tmp_path / "runs" / "empty").mkdir(parents=True)
    for name, year in started.items():
        (tmp_path / "runs" / name).mkdir()
        record = {"status": "complete", "started_at": f"{year}-01-01T00:00:00.000Z"}
        write_json(tmp_path / "runs" / name / "run.json", record)
    assert [folder.run_id[:4] for folder in run_folders(tmp_path)] == ["2026", "2025", "mine"]
    assert run_folders(tmp_path / "missing") == []


@pytest.mark.parametrize("content", [b"", b"\0\xff{{", b'{"status": ', b"[]", b"{}", b"null", b"7"])
def test_a_damaged_record_is_a_store_error_and_comes_last(tmp_path: Path, content: bytes):
    sound, damaged = (RunFolder(tmp_path / "runs" / name) for name in ("a", "z"))
    for folder in (sound, damaged):
        folder.path.mkdir(parents=True)
    write_json(sound.run_json, {"status": "running", "started_at": "2026"})
    damaged.run_json.write_bytes(content)
    assert read_record(sound)["status"] == "running"
    with pytest.raises(StoreError, match="start a new run; what this one paid for comes from the"):
        read_record(damaged)
    assert [folder.run_id for folder in run_folders(tmp_path)] == ["a", "z"]
