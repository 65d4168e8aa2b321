"""Where everything of a run lies on disk."""

import re
from contextlib import suppress
from pathlib import Path
from typing import Any

from tasks_lib.errors import DefinitionError, StoreError
from tasks_lib.results.files import read_json

_PART = re.compile(r"part-(\d{9})-(\d{9})\.parquet")
_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,199}")
_DAMAGED = "start a new run; what this one paid for comes from the ledger"


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

    def evidence(self, spec_key: str) -> Path:
        """What a system task has computed."""
        return self.path / "evidence" / f"{spec_key}.json"


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


def read_record(folder: RunFolder) -> dict[str, Any]:
    """Return what `run.json` says of a run.

    Raises:
        StoreError: it is missing or damaged.
    """
    try:
        record = read_json(folder.run_json)
    except StoreError as error:
        raise StoreError(error.problem, error.where, _DAMAGED) from None
    if not isinstance(record, dict) or not {"status", "started_at"} <= record.keys():
        raise StoreError("is no record of a run", str(folder.run_json), _DAMAGED)
    return record


def run_folders(store: Path) -> list[RunFolder]:
    """Return the runs of a store, the last started first, damaged ones at the end."""
    folders = [RunFolder(path.parent) for path in (store / "runs").glob("*/run.json")]
    return sorted(folders, key=_started, reverse=True)


def _started(folder: RunFolder) -> str:
    with suppress(StoreError):
        return str(read_record(folder)["started_at"])
    return ""
