import json
from pathlib import Path

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.sources import RowsOfFiles


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files of two rows, then one of a single row."""
    for name, ids in {"a": [1, 2], "b": [3, 4], "c": [5]}.items():
        rows = "".join(json.dumps({"n": number, name: True}) + "\n" for number in ids)
        (tmp_path / f"{name}.jsonl").write_text(rows)
    return sorted(tmp_path.glob("*.jsonl"))


def named(folder: Path, name: str, *ids: object) -> Path:
    file = folder / name
    file.write_text("".join(json.dumps({"sample_id": one}) + "\n" for one in ids))
    return file


def test_rows_follow_one_another_whatever_is_asked_for(files: list[Path]):
    rows = RowsOfFiles(files)
    assert len(rows) == 5
    assert rows.columns == ("n", "a", "b", "c")
    assert [sample.data["n"] for sample in rows.read(0, 5)] == [1, 2, 3, 4, 5]
    for places in ([4, 0, 3], [1], range(1, 4), []):
        taken = rows.take(places)
        assert [sample.index for sample in taken] == list(places)
        assert [sample.data["n"] for sample in taken] == [place + 1 for place in places]


def test_rows_without_ids_are_named_by_file_and_place(files: list[Path]):
    ids = [sample.id for sample in RowsOfFiles(files).read(0, 5)]
    assert ids == ["a/0", "a/1", "b/0", "b/1", "c/0"]
    assert [sample.id for sample in RowsOfFiles(files[:1]).read(0, 2)] == ["0", "1"]


@pytest.mark.parametrize(
    ("second", "ids"),
    [
        (("z", "y"), ["x", "7", "z", "y"]),
        (("z", 7), ["one/x", "one/7", "two/z", "two/7"]),
        (("z", None), ["one/x", "one/7", "two/0", "two/1"]),
    ],
    ids=["all differ", "one is in both", "one is missing"],
)
def test_ids_of_a_column_are_kept_where_they_tell_all_rows_apart(
    tmp_path: Path, second: tuple[object, ...], ids: list[str]
):
    files = [named(tmp_path, "one.jsonl", "x", 7), named(tmp_path, "two.jsonl", *second)]
    assert [sample.id for sample in RowsOfFiles(files).read(0, 4)] == ids


def test_files_of_one_name_are_told_apart_by_their_endings(tmp_path: Path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    files = [tmp_path / "a.csv", named(tmp_path, "a.jsonl", "x")]
    assert [sample.id for sample in RowsOfFiles(files).read(0, 2)] == ["a.csv/0", "a.jsonl/x"]


def test_everything_wrong_is_told_with_file_and_line(files: list[Path]):
    for file in files[1:]:
        file.write_text('{"n": 1}\n[1]\n')
    with pytest.raises(DefinitionErrors) as refused:
        RowsOfFiles(files)
    assert [problem.where for problem in refused.value.problems] == [
        f"{file}:2" for file in files[1:]
    ]


def test_content_names_and_order_of_files_are_their_fingerprint(files: list[Path]):
    before = RowsOfFiles(files).fingerprint()
    assert RowsOfFiles(files).fingerprint() == before
    assert RowsOfFiles(files[::-1]).fingerprint() != before
    renamed = files[0].rename(files[0].with_name("0.jsonl"))
    assert RowsOfFiles([renamed, *files[1:]]).fingerprint() != before
