"""Repeatability: what a scorer's metrics and scores vary between runs of the same samples."""

from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Any

from tasks_lib.metrics import Metric
from tasks_lib.metrics.averages import average, average_of_nothing
from tasks_lib.metrics.base import MetricValue, key_of
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import Counts, ScoreTable
from tasks_lib.results.metric_rows import MetricRow, computed, metric_input, metric_row
from tasks_lib.results.scores import field_kinds, score_name
from tasks_lib.scorers import Scorer

if TYPE_CHECKING:
    import pyarrow as pa

Place = tuple[int, int]
"""A row of every run: sample index, and row among those made of the sample."""


def repeated_rows(
    shared: Mapping[str, Any], scorer_key: str, scorer: Scorer, table: "pa.Table", num_runs: int
) -> list[MetricRow]:
    """Return what the runs of one specification come to.

    Per metric value, `<name>_mean` and `<name>_std` over the runs (divisor n - 1); per score,
    `<score>_agreement_mean`: how large a share of its runs gives a row's most common value,
    averaged over rows.

    Args:
        shared: the columns that name the specification.
        scorer_key: the scorer's key in results.
        scorer: whose metrics.
        table: its scores of all runs; the column `trial` numbers the runs.
        num_runs: how many runs there are.
    """
    import pyarrow.compute as pc

    runs = [
        metric_input(table.filter(pc.equal(table.column("trial"), run))) for run in range(num_runs)
    ]
    counts = _sum([scores.counts for scores in runs])
    rows = [
        metric_row(shared, scorer_key, scorer, key, metric.type, value, counts)
        for key, metric in scorer.keyed_metrics().items()
        for value in _over_runs(metric, key, runs)
    ]
    values_by_field, counts = _by_place(table)
    for field, values in values_by_field.items():
        key = key_of(f"{field}_agreement", "agreement")
        value = _agreement(f"{field}_agreement_mean", values, counts, num_runs)
        rows.append(metric_row(shared, scorer_key, scorer, key, "agreement", value, counts))
    return rows


def _sum(parts: Sequence[Counts]) -> Counts:
    return Counts(
        n=sum(part.n for part in parts),
        n_error=sum(part.n_error for part in parts),
        n_skipped=sum(part.n_skipped for part in parts),
        n_excluded=sum(part.n_excluded for part in parts),
    )


def _over_runs(metric: Metric, key: str, runs: Sequence[ScoreTable]) -> list[MetricValue]:
    """Mean and spread of every value of a metric."""
    by_name: dict[str, list[MetricValue]] = {}
    for scores in runs:
        for value in computed(metric, key, scores):
            by_name.setdefault(value.name, []).append(value)
    return [
        summary
        for name, values in by_name.items()
        for summary in (_mean(name, values, len(runs)), _spread(name, values))
    ]


def _mean(name: str, values: Sequence[MetricValue], num_runs: int) -> MetricValue:
    found = [value.value for value in values if value.value is not None]
    lows = [value.bound_low for value in values if value.bound_low is not None]
    highs = [value.bound_high for value in values if value.bound_high is not None]
    said = next((value.reason for value in values if value.reason), None)
    over = f"mean of {len(found)} of {num_runs} runs; its uncertainty over samples is not computed"
    return MetricValue(
        f"{name}_mean",
        fmean(found) if found else None,
        sum(value.n for value in values),
        bound_low=fmean(lows) if len(lows) == num_runs else None,
        bound_high=fmean(highs) if len(highs) == num_runs else None,
        reason=f"{over}; {said}" if said else over,
    )


def _spread(name: str, values: Sequence[MetricValue]) -> MetricValue:
    found = [value.value for value in values if value.value is not None]
    n = sum(value.n for value in values)
    if len(found) < 2:
        reason = f"{len(found)} of the runs has a value, so no spread"
        return MetricValue(f"{name}_std", None, n, reason=reason)
    return MetricValue(f"{name}_std", stdev(found), n)


def _by_place(table: "pa.Table") -> tuple[dict[str, list[list[Any]]], Counts]:
    """The values of each score in the runs that count, place by place, and how places ended."""
    counted: dict[Place, list[int]] = {}
    skipped: set[Place] = set()
    excluded: set[Place] = set()
    columns = [
        table.column(name).to_pylist() for name in ("sample_index", "row", "status", "excluded")
    ]
    for i, (index, row, status, left_out) in enumerate(zip(*columns, strict=True)):
        places = counted.setdefault((index, row), [])
        if status == "ok" and left_out:
            excluded.add((index, row))
        elif status == "ok":
            places.append(i)
        elif status == "skipped":
            skipped.add((index, row))
    used = [rows for rows in counted.values() if rows]
    n_excluded = sum(1 for place in excluded if not counted[place])
    n_skipped = sum(1 for place in skipped - excluded if not counted[place])
    counts = Counts(
        n=len(used),
        n_error=len(counted) - len(used) - n_excluded - n_skipped,
        n_skipped=n_skipped,
        n_excluded=n_excluded,
    )
    values = {}
    for name in field_kinds(table.schema):
        column = table.column(name).to_pylist()
        values[score_name(name)] = [
            [column[i] for i in rows if column[i] is not None and column[i] == column[i]]
            for rows in used
        ]
    return values, counts


def _agreement(
    name: str, values: Sequence[Sequence[Any]], counts: Counts, num_runs: int
) -> MetricValue:
    import numpy as np

    shares = [Counter(row).most_common(1)[0][1] / len(row) for row in values if len(row) > 1]
    limits = (1.0 / num_runs, 1.0)
    if not shares:
        empty = average_of_nothing(name, counts.n_population, limits)
        return MetricValue(
            name,
            None,
            0,
            bound_low=empty.bound_low,
            bound_high=empty.bound_high,
            reason="no row was scored in two runs",
        )
    numbers = Numbers(np.array(shares, dtype=np.float64), are_bools=False)
    return average(name, numbers, counts.n_population, limits)
