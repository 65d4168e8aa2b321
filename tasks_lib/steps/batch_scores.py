"""Scoring the rows of a batch: what each scorer says of them, and its table."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.scores import score_table
from tasks_lib.runs.run import Run
from tasks_lib.scorers.base import BaseScorer, ModelScorer, SampleScorer
from tasks_lib.steps.model_scoring import score_asking
from tasks_lib.steps.resume import Kept, place_of
from tasks_lib.steps.scoring import Outcome, score_columns, score_each, scorer_rows
from tasks_lib.steps.trial_aggregates import over_trials, shares

if TYPE_CHECKING:
    import pyarrow as pa

ROWS_TAKEN_APART = 250
"""Rows of a batch that are in memory as JSON values at a time."""


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
            asked = [pair for pair in shown if place_of(pair[0]) not in kept] if kept else shown
            said: Sequence[Outcome]
            if isinstance(scorer, ModelScorer):
                said = score_asking(run, spec_key, key, scorer, asked)
            else:
                said = score_each(scorer, [row for _, row in asked])
            made = iter(said)
            found[key] += (kept.get(place_of(row)) or next(made) for row in some) if kept else said
    return found


def scorer_table(
    run: Run,
    spec_key: str,
    scorer: BaseScorer,
    records: Sequence[SampleRecord],
    outcomes: Sequence[Outcome],
) -> "pa.Table":
    """Return one scorer's rows of whole samples; with trials, followed by their aggregates.

    Args:
        run: the open run.
        spec_key: the specification the rows belong to.
        scorer: whose scores they are.
        records: all rows of some samples, in order.
        outcomes: what the scorer says of each.
    """
    spec = run.spec(spec_key)
    if spec.num_trials == 1:
        return score_table(*score_columns(records, outcomes), scorer.shares())
    trials = spec.task.definition.trials
    aggregators = (trials.score_aggregators or ()) if trials else ()
    places, results = over_trials(records, outcomes, aggregators, spec.num_trials)
    columns = score_columns([*records, *places], [*outcomes, *results])
    known = scorer.shares() | shares(outcomes, aggregators)
    return score_table(*columns, known, over_trials=True)
