"""Reading a run back as pandas data frames."""

from pathlib import Path
from typing import TYPE_CHECKING

from tasks_lib.errors import DefinitionError, StoreError
from tasks_lib.results.folder import RunFolder, parts, read_record, run_folders
from tasks_lib.results.parquet import read_table
from tasks_lib.results.schemas import SCORE_COLUMNS, sample_schema
from tasks_lib.results.scores import read_scores, score_name

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

_ORDER = ["sample_index", "trial", "row"]
_ROW = ["spec_key", "sample_id", *_ORDER]
_ENDS = ("status", "error_message")

NEWEST = "last"
"""What people call the newest run of a store."""


class StoredRun:
    """One run as it lies on disk.

    Args:
        folder: where.

    Attributes:
        record: its `run.json`.
    """

    def __init__(self, folder: RunFolder) -> None:
        self.folder = folder
        self.record = read_record(folder)

    @property
    def complete(self) -> bool:
        """Whether the run reached its end."""
        return self.folder.complete.exists()

    def require_complete(self) -> None:
        """Refuse a run that has not reached its end.

        Raises:
            StoreError: it has not.
        """
        if not self.complete:
            raise StoreError(
                f"run '{self.folder.run_id}' is not complete",
                fix=f"finish it with: evalmill run --resume {self.folder.run_id}",
            )

    @property
    def spec_keys(self) -> list[str]:
        """The task specifications, in the evaluation's order."""
        return [spec["key"] for spec in self.record["specs"]]

    def scorer_keys(self, spec_key: str) -> list[str]:
        """The scorers that have written scores of a specification, by name."""
        folder = self.folder.path / "scores" / spec_key
        return sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []

    def samples(self) -> "pd.DataFrame":
        """One row per sample, trial and row, in dataset order; columns of `SampleRecord`."""
        import pyarrow as pa

        folders = [self.folder.samples(key) for key in self.spec_keys]
        tables = [read_table(path) for folder in folders for path in parts(folder)]
        table = pa.concat_tables([sample_schema().empty_table(), *tables])
        return _frame(table, ["spec_key", *_ORDER])

    def scores(self, scorer: str | None = None) -> "pd.DataFrame":
        """One row per scored row and scorer, in dataset order.

        Args:
            scorer: a scorer's key; None for all.

        Returns:
            Columns `spec_key`, `scorer_key`, those of `scores`, and one per score field of
            any of them, missing where a scorer has no such field.

        Raises:
            StoreError: no scorer has this key.
        """
        import pandas as pd

        frames = []
        for spec_key in self.spec_keys:
            for key in self.scorer_keys(spec_key):
                if scorer in (None, key):
                    frames.append(self._scores_of(spec_key, key))
        if not frames:
            known = sorted({key for spec in self.spec_keys for key in self.scorer_keys(spec)})
            raise StoreError(
                f"the run has no scorer '{scorer}'" if scorer else "the run has no scores",
                where=str(self.folder.path),
                fix=f"its scorers: {', '.join(known) or 'none'}",
            )
        return pd.concat(frames, ignore_index=True)

    def _scores_of(self, spec_key: str, scorer_key: str) -> "pd.DataFrame":
        scores = read_scores(self.folder.scores(spec_key, scorer_key))
        frame = _frame(scores, _ORDER)
        frame.insert(0, "scorer_key", scorer_key)
        frame.insert(0, "spec_key", spec_key)
        return frame

    def metrics(self) -> "pd.DataFrame":
        """One row per metric value; columns of `METRIC_COLUMNS`.

        Raises:
            StoreError: the run has not reached its end.
        """
        if not self.folder.metrics.exists():
            raise StoreError(
                f"run '{self.folder.run_id}' has no metrics yet",
                where=str(self.folder.path),
                fix=f"finish it with: evalmill run --resume {self.folder.run_id}",
            )
        frame: pd.DataFrame = read_table(self.folder.metrics).to_pandas()
        return frame

    def wide(self) -> "pd.DataFrame":
        """One row per sample, trial and row, with every score as `<scorer>.<field>`.

        A scorer's `<scorer>.status` and `<scorer>.error_message` tell why scores are missing.
        """
        wide = self.samples()
        for spec_key in self.spec_keys:
            for key in self.scorer_keys(spec_key):
                wide = _joined(wide, self._scores_of(spec_key, key), key)
        return wide


def load_run(run: str | Path, store: str | Path = ".evalmill") -> StoredRun:
    """Open a stored run.

    Args:
        run: its id, or its folder.
        store: the store to look an id up in.

    Raises:
        DefinitionError: there is no such run.
    """
    folder = Path(run)
    if not (folder / "run.json").is_file():
        folder = Path(store) / "runs" / str(run)
    if folder.name in ("", ".", "..") or not (folder / "run.json").is_file():
        raise DefinitionError(
            f"there is no run '{run}' in '{store}'", fix="list the runs with: evalmill ls"
        )
    return StoredRun(RunFolder(folder))


def run_named(run: str, store: Path) -> str:
    """Return a run's name as it is, or the id of the newest run where that is `last`.

    Raises:
        DefinitionError: the store has no run.
    """
    if run != NEWEST:
        return run
    runs = run_folders(store)
    if not runs:
        raise DefinitionError(
            f"there is no run in '{store}'", fix="start one with: evalmill run FILE"
        )
    return runs[0].run_id


def find_run(run: str, store: Path) -> StoredRun:
    """Open the run that an id, a folder, or `last` names.

    Raises:
        DefinitionError: there is none.
    """
    return load_run(run_named(run, store), store)


def _frame(table: "pa.Table", order: list[str]) -> "pd.DataFrame":
    frame: pd.DataFrame = table.to_pandas()
    return frame.sort_values(order, kind="stable", ignore_index=True)


def _joined(wide: "pd.DataFrame", scores: "pd.DataFrame", key: str) -> "pd.DataFrame":
    fields = [name for name in scores.columns if name not in (*SCORE_COLUMNS, *_ROW, "scorer_key")]
    names = {name: f"{key}.{name}" for name in _ENDS}
    names |= {
        name: f"{key}.{name if score_name(name) in _ENDS else score_name(name)}" for name in fields
    }
    kept = scores[[*_ROW, *names]].rename(columns=names)
    had = [name for name in kept.columns if name in wide.columns and name not in _ROW]
    if not had:
        return wide.merge(kept, on=_ROW, how="left")
    merged = wide.merge(kept, on=_ROW, how="left", suffixes=("", "\0new"))
    for name in had:  # the same scorer of another specification: fill its rows in
        merged[name] = merged[name].combine_first(merged[f"{name}\0new"])
    return merged.drop(columns=[f"{name}\0new" for name in had])
