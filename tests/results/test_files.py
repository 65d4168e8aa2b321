import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tasks_lib.errors import StoreError
from tasks_lib.results.files import read_json, write_atomically, write_json
from tasks_lib.results.folder import part_name, parts

REPOSITORY = Path(__file__).parents[2]


def no_space(path: Path) -> None:
    path.write_bytes(b"half")
    raise OSError(errno.ENOSPC, "No space left on device")


def interrupted(path: Path) -> None:
    path.write_bytes(b"half")
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("write", "error"), [(no_space, StoreError), (interrupted, KeyboardInterrupt)]
)
def test_a_file_gets_there_whole_or_not_at_all(tmp_path: Path, write, error: type):
    file = tmp_path / "new" / "file"
    write_atomically(file, lambda path: path.write_bytes(b"old"))
    with pytest.raises(error) as caught:
        write_atomically(file, write)
    assert file.read_bytes() == b"old"
    assert os.listdir(file.parent) == ["file"], "and leaves nothing behind"
    if error is StoreError:
        assert str(caught.value) == (
            f"{file}: can't write: No space left on device; free disk space, check the "
            "permissions, or choose another store with --out"
        )


def test_a_folder_that_can_not_be_is_a_store_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="can't write: "):
        write_atomically(tmp_path / "file" / "x", lambda path: path.touch())


def test_a_killed_writer_leaves_the_old_file_and_no_part(tmp_path: Path):
    file = tmp_path / part_name(0, 1)
    file.write_bytes(b"old")
    script = f"""
import os
from pathlib import Path
from tasks_lib.results.files import write_atomically

def write(path):
    path.write_bytes(b"half")
    os.kill(os.getpid(), 9)

write_atomically(Path({str(file)!r}), write)
"""
    subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, check=False)
    assert file.read_bytes() == b"old"
    assert parts(tmp_path) == [file]


def test_json_comes_back(tmp_path: Path):
    value = {"a": [1, None, "ü\0"], "b": {"c": 0.5}}
    write_json(tmp_path / "x.json", value)
    assert read_json(tmp_path / "x.json") == value


def test_json_that_is_missing_or_none_is_a_store_error(tmp_path: Path):
    with pytest.raises(StoreError, match=r"x\.json: can't read: No such file"):
        read_json(tmp_path / "x.json")
    (tmp_path / "x.json").write_bytes(b'{"a": ')
    with pytest.raises(StoreError, match=r"x\.json: is no JSON: "):
        read_json(tmp_path / "x.json")


def test_a_file_is_on_the_disk_before_it_has_its_name(tmp_path: Path, monkeypatch):
    done: list[int | str] = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: done.append(os.fstat(descriptor).st_ino))
    monkeypatch.setattr(os, "replace", lambda source, target: done.append(f"now {target.name}"))
    write_atomically(tmp_path / "x", lambda path: path.write_bytes(b"new"))
    (temporary,) = tmp_path.iterdir()
    assert done == [temporary.stat().st_ino, "now x", tmp_path.stat().st_ino]
