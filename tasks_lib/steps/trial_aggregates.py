"""From the scores of every trial to one score record per sample and row."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

from tasks_lib.errors import ErrorClass, OverBudget, SampleError
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import ScoreRecord, Values, boolean_scores
from tasks_lib.scorers.score import Score
from tasks_lib.steps.outcomes import Outcome, outcome_record
from tasks_lib.trials import ScoreAggregator, aggregated

Scored = tuple[SampleRecord, Outcome]
"""A row of one trial, and what the scorer says of it."""

AggregateOutcome = Score | SampleError | OverBudget
"""What all trials of a row come to."""


def over_trials(
    records: Sequence[SampleRecord],
    outcomes: Sequence[Outcome],
    aggregators: Sequence[ScoreAggregator],
    num_trials: int,
) -> list[ScoreRecord]:
    """Return one aggregated score record per sample and row.

    Failed trials are left out; a sample whose every trial failed has an error, and one of
    which some trial was skipped is skipped: it may yet come to something else. Rows that a
    postprocessor made are matched by position; when trials made different numbers of them,
    every position is an error.

    Args:
        records: the rows of whole samples, samples together.
        outcomes: what the scorer says of each.
        aggregators: results beside the mean.
        num_trials: of every sample; a trial without any row made none.
    """
    pairs = zip(records, outcomes, strict=True)
    return [
        outcome_record(sample_id, index, None, row, result)
        for index, sample in groupby(pairs, key=lambda pair: pair[0].sample_index)
        for sample_id, row, result in _sample_results(list(sample), aggregators, num_trials)
    ]


def shares(values: Iterable[Values | None], aggregators: Sequence[ScoreAggregator]) -> set[str]:
    """Return the scores that are true or false in each trial, and what they are aggregated to.

    All these lie between 0 and 1, beside each other in one column.

    Args:
        values: the scores of each trial's rows.
        aggregators: results beside the mean.
    """
    rows = list(values)
    plain = boolean_scores(rows)
    means = {f"{name}.mean" for name in plain}.difference(*(row or () for row in rows))
    named = {entry.result_name for entry in aggregators if entry.score_name in plain}
    return plain | means | named


def _sample_results(
    pairs: Sequence[Scored], aggregators: Sequence[ScoreAggregator], num_trials: int
) -> list[tuple[str, int, AggregateOutcome]]:
    """Return id, row and aggregated outcome of every row of one sample."""
    failed = [pair for pair in pairs if pair[0].status != "ok"]
    made = dict.fromkeys(range(num_trials), 0)
    for record, _ in failed:
        made.pop(record.trial, None)
    for record, _ in pairs:
        if record.status == "ok":
            made[record.trial] += 1
    first = pairs[0][0]
    sample_id = _sample_id(first, made)
    if any(rec.status == "skipped" or isinstance(said, OverBudget) for rec, said in pairs):
        return [(sample_id, 0, OverBudget())]
    if not made:
        return [(first.sample_id, 0, _combined(failed, aggregators))]
    rows = range(max(made.values()))
    ids = [sample_id if len(rows) == 1 else f"{sample_id}#{row}" for row in rows]
    if len(set(made.values())) > 1:
        counts = ", ".join(str(count) for count in made.values())
        error = SampleError("data", f"the trials made different numbers of rows: {counts}")
        return [(ids[row], row, error) for row in rows]
    return [
        (ids[row], row, _combined([pair for pair in pairs if _belongs(pair, row)], aggregators))
        for row in rows
    ]


def _sample_id(record: SampleRecord, made: Mapping[int, int]) -> str:
    """The id of the sample that a row was made of."""
    if made.get(record.trial, 1) == 1:
        return record.sample_id
    return record.sample_id.removesuffix(f"#{record.row}")


def _belongs(pair: Scored, row: int) -> bool:
    """Whether a trial's row is one of those aggregated at `row`; a failed trial is everywhere."""
    record, _ = pair
    return record.row == row or record.status != "ok"


def _combined(pairs: Sequence[Scored], aggregators: Sequence[ScoreAggregator]) -> AggregateOutcome:
    scores = [outcome for _, outcome in pairs if isinstance(outcome, Score)]
    if not scores:
        record, outcome = pairs[0]
        error_class: ErrorClass
        if isinstance(outcome, SampleError):
            error_class, problem = outcome.error_class, str(outcome)
        else:
            error_class = record.error_class or "data"  # type: ignore[assignment]
            problem = record.error_message or record.status
        return SampleError(error_class, f"all {len(pairs)} trials failed, the first: {problem}")
    try:
        values = aggregated([score.values for score in scores], aggregators)
    except SampleError as error:
        return error
    failed = len(pairs) - len(scores)
    return Score(values, {"trials": len(scores), "failed_trials": failed})
