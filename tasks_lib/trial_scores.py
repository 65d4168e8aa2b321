"""From the scores of every trial to one score record per sample and row."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from tasks_lib.errors import ErrorClass, SampleError
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.scorers.score import Score
from tasks_lib.scoring import Outcome
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


def over_trials(
    records: Sequence[SampleRecord],
    outcomes: Sequence[Outcome],
    aggregators: Sequence[ScoreAggregator],
) -> tuple[list[AggregateRow], list[Outcome]]:
    """Return one aggregated outcome per sample and row.

    Failed trials are left out; a sample whose every trial failed has an error. Rows that a
    postprocessor made are matched by position.

    Args:
        records: the rows of whole samples, samples together.
        outcomes: what the scorer says of each.
        aggregators: results beside the mean.
    """
    rows: list[AggregateRow] = []
    results: list[Outcome] = []
    pairs = zip(records, outcomes, strict=True)
    for _, sample in groupby(pairs, key=lambda pair: pair[0].sample_index):
        for row, outcome in _sample_results(list(sample), aggregators):
            rows.append(row)
            results.append(outcome)
    return rows, results


def _sample_results(
    pairs: Sequence[tuple[SampleRecord, Outcome]], aggregators: Sequence[ScoreAggregator]
) -> list[tuple[AggregateRow, Outcome]]:
    solved = [record for record, _ in pairs if record.status == "ok"]
    counts = {
        trial: sum(1 for _ in group)
        for trial, group in groupby(solved, key=lambda record: record.trial)
    }
    first = pairs[0][0]
    if len(set(counts.values())) > 1:
        made = ", ".join(str(count) for count in counts.values())
        problem = f"the trials made different numbers of rows: {made}"
        place = AggregateRow(first.sample_id.rpartition("#")[0], first.sample_index, 0)
        return [(place, SampleError("data", problem))]
    results: list[tuple[AggregateRow, Outcome]] = []
    for row in range(max(counts.values(), default=1)):
        of_row = [
            (record, outcome)
            for record, outcome in pairs
            if record.row == row or record.status != "ok"
        ]
        named = next((r for r, _ in of_row if r.status == "ok"), of_row[0][0])
        place = AggregateRow(named.sample_id, named.sample_index, row)
        results.append((place, _combined(of_row, aggregators)))
    return results


def _combined(
    pairs: Sequence[tuple[SampleRecord, Outcome]], aggregators: Sequence[ScoreAggregator]
) -> Outcome:
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
