"""From the scores of every trial to one score record per sample and row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tasks_lib.errors import ErrorClass, OverBudget, SampleError
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.scorers.score import Score
from tasks_lib.steps.scoring import Outcome
from tasks_lib.trials import ScoreAggregator, aggregated


@dataclass(frozen=True, slots=True)
class AggregateRow:
    """The place of a score record that stands for all trials of a sample's row."""

    sample_id: str
    sample_index: int
    row: int
    trial: None = None
    status: Literal["ok"] = "ok"
    error_class: None = None
    error_message: None = None


Scored = tuple[SampleRecord, Outcome]
"""A row of one trial, and what the scorer says of it."""


def over_trials(
    records: Sequence[SampleRecord],
    outcomes: Sequence[Outcome],
    aggregators: Sequence[ScoreAggregator],
    num_trials: int,
) -> tuple[list[AggregateRow], list[Outcome]]:
    """Return one aggregated outcome per sample and row.

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
    rows: list[AggregateRow] = []
    results: list[Outcome] = []
    pairs = zip(records, outcomes, strict=True)
    for _, sample in groupby(pairs, key=lambda pair: pair[0].sample_index):
        for row, outcome in _sample_results(list(sample), aggregators, num_trials):
            rows.append(row)
            results.append(outcome)
    return rows, results


def shares(outcomes: Sequence[Outcome], aggregators: Sequence[ScoreAggregator]) -> set[str]:
    """Return the scores that are true or false in each trial, and what they are aggregated to.

    All these lie between 0 and 1, beside each other in one column.
    """
    bools: dict[str, bool] = {}
    for outcome in outcomes:
        if isinstance(outcome, Score):
            for name, value in outcome.values.items():
                if value is not None:
                    bools[name] = isinstance(value, bool) and bools.get(name, True)
    plain = {name for name, every in bools.items() if every}
    means = {f"{name}.mean" for name in plain} - bools.keys()
    named = {entry.result_name for entry in aggregators if entry.score_name in plain}
    return plain | means | named


def _sample_results(
    pairs: Sequence[Scored], aggregators: Sequence[ScoreAggregator], num_trials: int
) -> list[tuple[AggregateRow, Outcome]]:
    failed = [pair for pair in pairs if pair[0].status != "ok"]
    made = dict.fromkeys(range(num_trials), 0)
    for record, _ in failed:
        made.pop(record.trial, None)
    for record, _ in pairs:
        if record.status == "ok":
            made[record.trial] += 1
    index = pairs[0][0].sample_index
    if any(rec.status == "skipped" or isinstance(said, OverBudget) for rec, said in pairs):
        return [(AggregateRow(_sample_id(pairs[0][0], made), index, 0), OverBudget())]
    if not made:
        place = AggregateRow(pairs[0][0].sample_id, index, 0)
        return [(place, _combined(failed, aggregators))]
    n_rows = max(made.values())
    sample_id = _sample_id(pairs[0][0], made)
    places = [
        AggregateRow(sample_id if n_rows == 1 else f"{sample_id}#{row}", index, row)
        for row in range(n_rows)
    ]
    if len(set(made.values())) > 1:
        counts = ", ".join(str(count) for count in made.values())
        error = SampleError("data", f"the trials made different numbers of rows: {counts}")
        return [(place, error) for place in places]
    return [
        (place, _combined([pair for pair in pairs if _belongs(pair, place.row)], aggregators))
        for place in places
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


def _combined(pairs: Sequence[Scored], aggregators: Sequence[ScoreAggregator]) -> Outcome:
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
