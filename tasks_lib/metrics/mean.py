"""`mean`: the average of a score, with an interval."""

from math import isfinite, sqrt
from typing import Literal

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable
from tasks_lib.statistics.bounds import mean_bounds
from tasks_lib.statistics.intervals import Interval, student_t, wilson


class Mean(NumberMetric):
    """Average of a field: a rate with Wilson's interval for booleans, else with a t interval."""

    type: Literal["mean"] = "mean"

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        # Equal scores: their very value, whatever the sum of many rounds to.
        mean = float(scores.values[0] if scores.all_equal else scores.values.mean())
        stderr = _stderr(scores)
        interval, reason = _interval(scores, mean, stderr)
        bound_low, bound_high = _bounds(scores, table)
        return MetricValue(
            name,
            mean,
            scores.n,
            stderr=stderr,
            ci_low=interval.low if interval else None,
            ci_high=interval.high if interval else None,
            ci_level=interval.level if interval else None,
            ci_method=interval.method if interval else None,
            bound_low=bound_low,
            bound_high=bound_high,
            reason=reason,
        )

    def when_empty(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        bound_low, bound_high = _bounds(scores, table)
        return MetricValue(name, None, 0, bound_low=bound_low, bound_high=bound_high)


def _stderr(scores: Numbers) -> float | None:
    """Return the standard error of the mean; None where it would be 0 or has no value."""
    if scores.all_equal:
        return None
    stderr = float(scores.values.std(ddof=1)) / sqrt(scores.n)
    return stderr if isfinite(stderr) else None


def _interval(
    scores: Numbers, mean: float, stderr: float | None
) -> tuple[Interval | None, str | None]:
    """Return the interval, or why there is none."""
    if scores.are_bools:
        return wilson(int(scores.values.sum()), scores.n), None
    if stderr:
        return student_t(mean, stderr, scores.n), None
    if scores.n == 1:
        return None, "one row, so no interval"
    if scores.all_equal:
        return None, f"all {scores.n:,} scores are equal, so no interval"
    return None, "the spread is too large or too small for a float, so no interval"


def _bounds(scores: Numbers, table: ScoreTable) -> tuple[float, float] | tuple[None, None]:
    """Return the bounds of a rate; other numbers have no range that is known."""
    population = table.counts.n_population
    if not (scores.are_bools and population):
        return None, None
    return mean_bounds(float(scores.values.sum()), scores.n, population, low=0.0, high=1.0)
