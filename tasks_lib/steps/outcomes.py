"""What scorers say of rows: asked row by row or of all together, and as rows of `scores`."""

from collections.abc import Mapping, Sequence

from tasks_lib.errors import OverBudget, SampleError
from tasks_lib.jsontext import dumps, loads
from tasks_lib.results.error_text import error_text, unexpected
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import ScoreRecord, unscored
from tasks_lib.runs.run import Run
from tasks_lib.scorers.base import AllSamplesScorer, Datasets, ModelScorer, SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.solvers.base import BaseSolver
from tasks_lib.steps.model_scoring import score_with_model
from tasks_lib.steps.resume import Kept
from tasks_lib.trace import SolverTrace, Trace

ROWS_TAKEN_APART = 250
"""Rows of a batch that are in memory as JSON values at a time."""

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
        rows.append(Row(loads(record.sample), output, solver.shown))
    return rows


def outcomes_of(
    run: Run,
    spec_key: str,
    due: Mapping[str, tuple[SampleScorer | ModelScorer, Kept]],
    solved: Sequence[SampleRecord],
) -> dict[str, list[Outcome]]:
    """Return what each scorer says of solved rows; scores that are kept are not made again.

    Args:
        run: the open run.
        spec_key: the specification the rows belong to.
        due: scorers by key, each with the scores that are kept.
        solved: the rows.

    Raises:
        Stopped: the run was interrupted.
        StoreError: a judge's reply could not be recorded.
    """
    solver = run.spec(spec_key).task.definition.solver
    found: dict[str, list[Outcome]] = {key: [] for key in due}
    # rows are large when they are taken apart; a model is asked about as many as it allows
    asking = any(isinstance(scorer, ModelScorer) for scorer, _ in due.values())
    at_once = max(1, len(solved)) if asking else ROWS_TAKEN_APART
    for first in range(0, len(solved), at_once):
        some = solved[first : first + at_once]
        shown = list(zip(some, scorer_rows(some, solver), strict=True))
        for key, (scorer, kept) in due.items():
            asked = [pair for pair in shown if pair[0].place not in kept] if kept else shown
            said: Sequence[Outcome]
            if isinstance(scorer, ModelScorer):
                said = score_with_model(run, spec_key, key, scorer, asked)
            else:
                said = scorer.score_each([row for _, row in asked])
            made = iter(said)
            found[key] += (
                (kept.get(record.place) or next(made) for record in some) if kept else said
            )
    return found


def score_together(
    scorer: AllSamplesScorer, rows: Sequence[Row], datasets: Datasets | None
) -> list[Score | SampleError]:
    """Score all rows at once; a failure is every row's."""
    try:
        return list(scorer.score_all(rows, datasets))
    except SampleError as error:
        failure = error
    except Exception as error:
        failure = unexpected(error)
    return [failure] * len(rows)


def with_unsolved(records: Sequence[SampleRecord], outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Return an outcome for every record: those of the solved ones, None for the others."""
    solved = iter(outcomes)
    return [next(solved) if record.status == "ok" else None for record in records]


def score_record(record: SampleRecord, outcome: Outcome) -> ScoreRecord:
    """Return what a scorer says of a row as a row of `scores`.

    A row whose solver failed carries that error; it was never scored. A row that was skipped,
    or that this scorer may not ask about any more, is skipped.
    """
    if outcome is None:
        return unscored(record)
    return outcome_record(record.sample_id, record.sample_index, record.trial, record.row, outcome)


def outcome_record(
    sample_id: str,
    sample_index: int,
    trial: int | None,
    row: int,
    outcome: Score | SampleError | OverBudget,
) -> ScoreRecord:
    """Return an outcome as a row of `scores`."""
    metadata = None if outcome.metadata is None else dumps(outcome.metadata)
    error_class, message, values = None, None, None
    if isinstance(outcome, Score):
        status, values = "ok", outcome.values
    elif isinstance(outcome, OverBudget):
        status = "skipped"
    else:
        status, error_class, message = "error", outcome.error_class, error_text(outcome)
    return ScoreRecord(
        sample_id,
        sample_index,
        trial,
        row,
        status,
        error_class,
        message,
        False,
        (),
        metadata,
        values,
    )
