"""Where everything of a run lies on disk, and how files get there whole or not at all."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from tasks_lib.errors import DefinitionError, StoreError

_PART = re.compile(r"part-(\d{9})-(\d{9})\.parquet")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")


class RunFolder:
    """The folder of one run (`<store>/runs/<run_id>`).

    Args:
        path: the folder; need not exist yet.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def run_id(self) -> str:
        """The run's id, which is the folder's name."""
        return self.path.name

    @property
    def store(self) -> Path:
        """The store that the run belongs to."""
        return self.path.parent.parent

    @property
    def run_json(self) -> Path:
        """What the run is, how it ended and what it cost."""
        return self.path / "run.json"

    @property
    def resolved(self) -> Path:
        """The resolved evaluation, a run file without secrets."""
        return self.path / "resolved.yaml"

    @property
    def metrics(self) -> Path:
        """The metrics table."""
        return self.path / "metrics.parquet"

    @property
    def complete(self) -> Path:
        """The marker that is written last."""
        return self.path / "complete"

    def samples(self, spec_key: str) -> Path:
        """Folder of a specification's sample rows."""
        return self.path / "samples" / spec_key

    def scores(self, spec_key: str, scorer_key: str) -> Path:
        """Folder of one scorer's rows."""
        return self.path / "scores" / spec_key / scorer_key


def run_folder(store: Path, run_id: str, flag: str = "--run-id") -> RunFolder:
    """Return the folder of the run `run_id` in `store`, never one outside of it.

    Args:
        store: the store.
        run_id: the run's id.
        flag: where the id was written, for the message.

    Raises:
        DefinitionError: the id can't be a folder name.
    """
    if not _RUN_ID.fullmatch(run_id):
        raise DefinitionError(
            f"'{run_id}' can't be a run id",
            where=flag,
            fix="use letters, digits, '.', '_' and '-', beginning with a letter or digit",
        )
    return RunFolder(store / "runs" / run_id)


def part_name(start: int, stop: int) -> str:
    """File name of the rows of samples `start` up to, not including, `stop`."""
    return f"part-{start:09d}-{stop:09d}.parquet"


def parts(folder: Path) -> list[Path]:
    """The finished parts in `folder`, in sample order; unfinished files are not among them."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if _PART.fullmatch(path.name))


def part_range(path: Path) -> tuple[int, int]:
    """The sample range `[start, stop)` that a part's name states."""
    match = _PART.fullmatch(path.name)
    if match is None:
        raise ValueError(f"'{path.name}' is no part")
    return int(match[1]), int(match[2])


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary file, then rename it to `path`.

    Whatever is raised, `path` is as it was before.

    Raises:
        StoreError: the disk is full or the folder unwritable.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        os.replace(temporary, path)
    except OSError as error:
        _remove(temporary)
        raise _unwritable("write", path, error) from None
    except BaseException:
        _remove(temporary)
        raise


def clear_unfinished(folder: RunFolder) -> None:
    """Remove what a process that was killed had not finished writing; nobody else may write."""
    for path in folder.path.rglob(".*.tmp"):
        _remove(path)


def remove(path: Path) -> None:
    """Remove a file of the store, if it is there.

    Raises:
        StoreError: it can't be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable("remove", path, error) from None


def _remove(path: Path) -> None:
    with suppress(OSError):  # what made the writing fail may forbid this too
        path.unlink()


def _unwritable(act: str, path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"can't {act}: {error.strerror or error}",
        where=str(path),
        fix="free disk space, check the permissions, or choose another store with --out",
    )


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically.

    Raises:
        StoreError: it can't be written.
    """
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, lambda temporary: temporary.write_bytes(text))


def read_json(path: Path) -> Any:
    """Return the value of a JSON file of the store.

    Raises:
        StoreError: it is missing or no JSON.
    """
    try:
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"can't read: {error.strerror or error}", where=str(path)) from None
    except orjson.JSONDecodeError as error:
        raise StoreError(f"is no JSON: {error}", where=str(path)) from None


def run_folders(store: Path) -> list[RunFolder]:
    """Return the runs of a store, the last started first, whatever they are called.

    Raises:
        StoreError: a run's record is no JSON.
    """
    records = (store / "runs").glob("*/run.json")
    started = [(read_json(path)["started_at"], path.parent) for path in records]
    return [RunFolder(path) for _, path in sorted(started, reverse=True)]
