"""Score rows as Python values: read from a scorer's part, and written as one."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from tasks_lib.jsontext import loads
from tasks_lib.results.folder import RunFolder, part_name
from tasks_lib.results.parquet import read_table, write_table
from tasks_lib.results.samples import read_samples
from tasks_lib.results.schemas import SCORE_COLUMNS, SampleRecord
from tasks_lib.results.scores import field_kinds, score_name, score_table


@dataclass(frozen=True, slots=True)
class ScoreRecord:
    """One row of `scores`.

    Attributes:
        sample_id: the sample's id.
        sample_index: its place in the dataset's order.
        trial: zero-based trial; None for the aggregate over trials.
        row: zero-based place among the rows made of one sample.
        status: `ok`, `error` or `skipped`.
        error_class: why there are no scores.
        error_message: what went wrong.
        excluded: whether a rule leaves the row out of the metrics.
        action_rules: the rules that matched.
        metadata: what the scorer noted, as JSON text.
        values: scores by name; None without any.
    """

    sample_id: str
    sample_index: int
    trial: int | None
    row: int
    status: str
    error_class: str | None = None
    error_message: str | None = None
    excluded: bool = False
    action_rules: Sequence[str] = ()
    metadata: str | None = None
    values: dict[str, Any] | None = None

    @property
    def place(self) -> tuple[int, int, int | None]:
        """Sample index, row and trial."""
        return self.sample_index, self.row, self.trial


assert tuple(field.name for field in fields(ScoreRecord)) == (*SCORE_COLUMNS, "values")


def read_score_records(part: Path) -> list[ScoreRecord]:
    """Return the rows of one part of a scorer's scores, in their order.

    Scores that were true or false in each trial, and stored as numbers beside their
    aggregates, are so again.

    Raises:
        StoreError: the part is missing or damaged.
    """
    table = read_table(part)
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    trials = columns["trial"]
    kinds = field_kinds(table.schema)
    for name, kind in kinds.items():
        if kind == "json":
            columns[name] = [None if text is None else loads(text) for text in columns[name]]
        elif kind == "share" and None in trials:
            columns[name] = _with_booleans(columns[name], trials)
    scores = {score_name(name): columns[name] for name in kinds}
    base = [columns[name] for name in SCORE_COLUMNS]
    records = []
    for i, cells in enumerate(zip(*base, strict=True)):
        row: dict[str, Any] = dict(zip(SCORE_COLUMNS, cells, strict=True))
        if row["status"] == "ok":
            row["values"] = {name: column[i] for name, column in scores.items()}
        records.append(ScoreRecord(**row))
    return records


def _with_booleans(values: list[Any], trials: list[int | None]) -> list[Any]:
    pairs = list(zip(values, trials, strict=True))
    if any(value not in (None, 0.0, 1.0) for value, trial in pairs if trial is not None):
        return values
    return [value if None in (value, trial) else bool(value) for value, trial in pairs]


def write_score_records(part: Path, records: Sequence[ScoreRecord]) -> None:
    """Write one part of a scorer's scores.

    Raises:
        StoreError: it can't be written.
    """
    base = {name: [getattr(record, name) for record in records] for name in SCORE_COLUMNS}
    values = [record.values for record in records]
    aggregates = any(record.trial is None for record in records)
    shares = _shares(records) if aggregates else ()
    write_table(part, score_table(base, values, shares, over_trials=aggregates))


def _shares(records: Sequence[ScoreRecord]) -> Collection[str]:
    """The scores that are true or false in each trial, beside their aggregates."""
    return {
        name
        for record in records
        if record.trial is not None and record.values
        for name, value in record.values.items()
        if isinstance(value, bool)
    }


@dataclass(frozen=True, slots=True)
class ResultPart:
    """Everything recorded of some samples that follow each other.

    Attributes:
        records: their rows, samples and in them trials together.
        scores: what each scorer says of these rows, by its key; aggregates over trials last.
    """

    records: Sequence[SampleRecord]
    scores: Mapping[str, Sequence[ScoreRecord]]


def read_part(
    folder: RunFolder, spec_key: str, scorers: Iterable[str], start: int, stop: int
) -> ResultPart:
    """Return what a run holds of the samples of one part.

    Raises:
        StoreError: a part is missing or damaged.
    """
    return ResultPart(
        read_samples(folder.samples(spec_key), start, stop),
        {
            key: read_score_records(folder.scores(spec_key, key) / part_name(start, stop))
            for key in scorers
        },
    )
