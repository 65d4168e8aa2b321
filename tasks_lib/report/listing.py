"""Lists of a run's rows that are worth a look: those that failed, or that have a certain score."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.config import did_you_mean
from tasks_lib.errors import DefinitionError, bounded
from tasks_lib.results.folder import parts
from tasks_lib.results.load import StoredRun
from tasks_lib.results.parquet import read_schema, read_table
from tasks_lib.results.scores import field_kinds, score_name

if TYPE_CHECKING:
    import pyarrow as pa

_NOT_SCORED = "not scored: "  # how the error of a row begins that never reached its scorer
_PLACE = ("sample_id", "trial", "row")


@dataclass(frozen=True, slots=True)
class ListedRow:
    """A row of a run, by what it is listed for.

    Attributes:
        spec_key: its specification.
        sample_id: its sample.
        trial: the trial it is of; None for what all trials come to together.
        row: which of the rows that were made of the sample.
        scorer_key: the scorer; None for the solver.
        error_class: why it failed there; None where it is listed for a score.
        error_message: what was said of it.
        score: the name of the score it is listed for; None for a row that failed.
        value: that score.
    """

    spec_key: str
    sample_id: str
    trial: int | None
    row: int
    scorer_key: str | None
    error_class: str | None = None
    error_message: str | None = None
    score: str | None = None
    value: Any = None

    @property
    def reason(self) -> str:
        """What it is listed for, as text."""
        if self.score is None:
            return self.error_message or ""
        return f"{self.score} = {self.value}"


@dataclass(frozen=True)
class Listing:
    """Some rows, the first of them at hand.

    Attributes:
        total: how many there are.
        rows: the first ones, by specification, place and sample.
    """

    total: int
    rows: Sequence[ListedRow]

    def document(self) -> dict[str, Any]:
        """Return it as JSON values."""
        return {"total": self.total, "rows": [asdict(row) for row in self.rows]}


def failed_rows(stored: StoredRun, most: int) -> Listing:
    """Return the rows that ended in an error, each where it did, the first `most` at hand."""
    return _listing(_failed(stored), most)


def rows_scored(stored: StoredRun, score: str, value: str, most: int) -> Listing:
    """Return the scored rows whose score is as wanted, the first `most` at hand.

    Args:
        stored: the run.
        score: the score's name, also as `<scorer>.<score>`.
        value: what it is, as text; `true`, `false` and numbers however they are written.
        most: how many to have at hand.

    Raises:
        DefinitionError: no scorer has such a score.
    """
    found = [
        (spec, scorer, column)
        for spec, scorer, names in _scores(stored)
        for name, column in names.items()
        if score in (name, f"{scorer}.{name}")
    ]
    if not found:
        known = list(dict.fromkeys(name for _, _, names in _scores(stored) for name in names))
        raise DefinitionError(
            f"run '{stored.folder.run_id}' has no score '{score}'",
            where="--where",
            fix=did_you_mean(score, known) or f"its scores: {bounded(', '.join(known)) or 'none'}",
        )
    return _listing((row for place in found for row in _scored(stored, *place, value)), most)


def failed_part(path: Path) -> "pa.Table":
    """Return the failed rows of a part: place, class and message.

    Rows that a scorer never saw, because they failed before, are not its own.
    """
    import pyarrow.compute as pc

    table = read_table(path, [*_PLACE, "status", "error_class", "error_message"])
    table = table.filter(pc.equal(table.column("status"), "error"))
    return table.filter(pc.invert(pc.starts_with(table.column("error_message"), _NOT_SCORED)))


def _failed(stored: StoredRun) -> Iterator[ListedRow]:
    for spec in stored.spec_keys:
        folders: dict[str | None, Path] = {None: stored.folder.samples(spec)}
        folders |= {key: stored.folder.scores(spec, key) for key in stored.scorer_keys(spec)}
        for scorer, folder in folders.items():
            for path in parts(folder):
                for row in failed_part(path).drop_columns("status").to_pylist():
                    yield ListedRow(spec_key=spec, scorer_key=scorer, **row)


def _scores(stored: StoredRun) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield specifications and their scorers with the columns of each score."""
    for spec in stored.spec_keys:
        for scorer in stored.scorer_keys(spec):
            for path in parts(stored.folder.scores(spec, scorer))[:1]:
                names = field_kinds(read_schema(path))
                yield spec, scorer, {score_name(name): name for name in names}


def _scored(
    stored: StoredRun, spec: str, scorer: str, column: str, value: str
) -> Iterator[ListedRow]:
    for path in parts(stored.folder.scores(spec, scorer)):
        for row in read_table(path, [*_PLACE, "status", column]).to_pylist():
            score = row.pop(column)
            if row.pop("status") == "ok" and row["trial"] is not None and _is(score, value):
                name = score_name(column)
                yield ListedRow(spec_key=spec, scorer_key=scorer, score=name, value=score, **row)


def _is(score: Any, value: str) -> bool:
    """Whether a score is what `value` says; where there are trials, true is stored as 1."""
    if isinstance(score, float):
        try:
            return score == float({"true": "1", "false": "0"}.get(value.lower(), value))
        except ValueError:
            return False
    if isinstance(score, bool) or score is None:
        return str(score).lower() == value.lower()
    return str(score) == value


def _listing(rows: Iterator[ListedRow], most: int) -> Listing:
    first = list(islice(rows, most))
    return Listing(len(first) + sum(1 for _ in rows), first)
