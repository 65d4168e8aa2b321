"""Score rows as Python values: the table made of them, and read back as such."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.jsontext import loads
from tasks_lib.results.parquet import read_table
from tasks_lib.results.schemas import SCORE_COLUMNS, Place, SampleRecord, score_schema
from tasks_lib.results.score_kinds import ScoreKind, joined_kind, kind_of
from tasks_lib.results.scores import column_name, field_kinds, score_name, stored_value

if TYPE_CHECKING:
    import pyarrow as pa

Values = Mapping[str, Any]
"""Scores of one row by name."""


@dataclass(slots=True)
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
    values: Values | None = None

    @property
    def place(self) -> Place:
        """Where the row stands."""
        return self.sample_index, self.row, self.trial


assert tuple(field.name for field in fields(ScoreRecord)) == (*SCORE_COLUMNS, "values")
_CELLS = attrgetter(*SCORE_COLUMNS)


def unscored(record: SampleRecord) -> ScoreRecord:
    """Return what every scorer says of a row that was not solved."""
    place = record.sample_id, record.sample_index, record.trial, record.row
    if record.status == "skipped":
        return ScoreRecord(*place, "skipped")
    message = f"not scored: {record.error_message or record.status}"
    return ScoreRecord(*place, "error", record.error_class, message)


def score_table(records: Sequence[ScoreRecord], shares: Collection[str] = ()) -> "pa.Table":
    """Make the table of one scorer's rows.

    Where aggregates over trials are among them, booleans stand beside these as 1 and 0.

    Args:
        records: the rows.
        shares: the scores whose numbers lie between 0 and 1.

    Returns:
        A table with a typed column per score, the kinds joined over the rows.
    """
    import pyarrow as pa

    rows: list[Values | None] = [record.values for record in records]
    if any(record.trial is None for record in records):
        rows = [_without_bools(row) for row in rows]
    kinds: dict[str, ScoreKind] = {}
    for row in rows:
        for name, value in (row or {}).items():
            kind = kind_of(value)
            if name in shares and kind == "number":
                kind = "share"
            kinds[name] = joined_kind(kinds.get(name, "null"), kind)
    columns: list[Any] = [*zip(*map(_CELLS, records), strict=True)] or [() for _ in SCORE_COLUMNS]
    for name, kind in kinds.items():
        columns.append([stored_value((row or {}).get(name), kind) for row in rows])
    named = {column_name(name): kind for name, kind in kinds.items()}
    return pa.table(columns, schema=score_schema(named))


def _without_bools(row: Values | None) -> Values | None:
    if row is None:
        return None
    return {name: float(value) if isinstance(value, bool) else value for name, value in row.items()}


def boolean_scores(rows: Iterable[Values | None]) -> set[str]:
    """Return the scores that are true or false in every row that has a value."""
    found: dict[str, bool] = {}
    for row in rows:
        for name, value in (row or {}).items():
            if value is not None:
                found[name] = isinstance(value, bool) and found.get(name, True)
    return {name for name, every in found.items() if every}


def read_score_records(part: Path) -> list[ScoreRecord]:
    """Return the rows of one part of a scorer's scores, in their order.

    Raises:
        StoreError: the part is missing or damaged.
    """
    return score_records(read_table(part))


def score_records(table: "pa.Table") -> list[ScoreRecord]:
    """Return the rows of a table of scores.

    Scores that were true or false in each trial, and stored as numbers beside their
    aggregates, are so again.
    """
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    trials = columns["trial"]
    kinds = field_kinds(table.schema)
    for name, kind in kinds.items():
        if kind == "json":
            columns[name] = [None if text is None else loads(text) for text in columns[name]]
        elif kind == "share" and None in trials:
            columns[name] = _with_booleans(columns[name], trials)
    scores = {score_name(name): columns[name] for name in kinds}
    records = []
    for i, cells in enumerate(zip(*(columns[name] for name in SCORE_COLUMNS), strict=True)):
        record = ScoreRecord(*cells)
        if record.status == "ok":
            record.values = {name: column[i] for name, column in scores.items()}
        records.append(record)
    return records


def _with_booleans(values: list[Any], trials: list[int | None]) -> list[Any]:
    pairs = list(zip(values, trials, strict=True))
    if any(value not in (None, 0.0, 1.0) for value, trial in pairs if trial is not None):
        return values
    return [value if None in (value, trial) else bool(value) for value, trial in pairs]
