"""Scoring rows: solved samples in, one part of scores per scorer out."""

from collections.abc import Sequence
from typing import Any, Protocol

from tasks_lib.errors import OverBudget, SampleError
from tasks_lib.jsontext import dumps, loads
from tasks_lib.results.error_text import error_text
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.scorers.base import AllSamplesScorer, Datasets, SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.solvers.base import BaseSolver
from tasks_lib.trace import SolverTrace, Trace

Outcome = Score | SampleError | OverBudget | None
"""What a scorer says of a row: a score, an error, that it may not ask, or nothing because the
row was not solved."""


def scorer_rows(records: Sequence[SampleRecord], solver: BaseSolver | None) -> list[Row]:
    """Return the rows that scorers see of solved samples, always as they were stored.

    Args:
        records: rows with status `ok`.
        solver: what solved them; None in a task without solver, which shows no output.
    """
    if solver is None:
        return [Row(loads(record.sample), None) for record in records]
    rows = []
    for record in records:
        output = SolverTrace(Trace.from_json(record.trace), loads(record.raw_outputs))
        rows.append(Row(loads(record.sample), output, solver.legacy))
    return rows


def score_each(scorer: SampleScorer, rows: Sequence[Row]) -> list[Score | SampleError]:
    """Score rows one by one; a failure is that row's alone."""
    return scorer.score_each(rows)


def score_together(
    scorer: AllSamplesScorer, rows: Sequence[Row], datasets: Datasets | None
) -> list[Score | SampleError]:
    """Score all rows at once; a failure is every row's."""
    try:
        return list(scorer.score_all(rows, datasets))
    except SampleError as error:
        failure = error
    except Exception as error:
        failure = SampleError("code", f"{type(error).__name__}: {error}")
    return [failure] * len(rows)


def spread(records: Sequence[SampleRecord], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return an outcome for every record: those of the solved ones, None for the others."""
    solved = iter(outcomes)
    return [next(solved) if record.status == "ok" else None for record in records]


class Placed(Protocol):
    """The place of a row, and how its solving ended."""

    @property
    def sample_id(self) -> str:
        """The sample's id."""

    @property
    def sample_index(self) -> int:
        """The sample's place in the dataset."""

    @property
    def trial(self) -> int | None:
        """The trial; None for the aggregate over trials."""

    @property
    def row(self) -> int:
        """The place among the rows made of one sample."""

    @property
    def status(self) -> str:
        """`ok` when it was solved, `skipped` when it could have been."""

    @property
    def error_class(self) -> str | None:
        """Why it was not solved."""

    @property
    def error_message(self) -> str | None:
        """What went wrong."""


def score_columns(
    records: Sequence[Placed], outcomes: Sequence[Outcome]
) -> tuple[dict[str, list[Any]], list[dict[str, Any] | None]]:
    """Return the base columns and the score values of one scorer's rows.

    A row whose solver failed carries that error; it was never scored. A row that was skipped,
    or that this scorer may not ask about any more, is skipped.
    """
    base: dict[str, list[Any]] = {
        "sample_id": [record.sample_id for record in records],
        "sample_index": [record.sample_index for record in records],
        "trial": [record.trial for record in records],
        "row": [record.row for record in records],
        "status": [],
        "error_class": [],
        "error_message": [],
        "excluded": [False] * len(records),
        "action_rules": [[] for _ in records],
        "metadata": [],
    }
    values: list[dict[str, Any] | None] = []
    for record, outcome in zip(records, outcomes, strict=True):
        status, error_class, message, metadata, scores = _cells(record, outcome)
        base["status"].append(status)
        base["error_class"].append(error_class)
        base["error_message"].append(message)
        base["metadata"].append(metadata)
        values.append(scores)
    return base, values


def _cells(
    record: Placed, outcome: Outcome
) -> tuple[str, str | None, str | None, str | None, dict[str, Any] | None]:
    if outcome is None and record.status == "skipped":
        return "skipped", None, None, None, None
    if outcome is None:
        message = f"not scored: {record.error_message or record.status}"
        return "error", record.error_class, message, None, None
    metadata = None if outcome.metadata is None else dumps(outcome.metadata)
    if isinstance(outcome, OverBudget):
        return "skipped", None, None, metadata, None
    if isinstance(outcome, SampleError):
        return "error", outcome.error_class, error_text(outcome), metadata, None
    return "ok", None, None, metadata, outcome.values
