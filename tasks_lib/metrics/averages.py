"""The average of numbers, one a row, with what may be claimed of it."""

from dataclasses import replace
from math import inf, isfinite, sqrt
from typing import TypeAlias

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.statistics.bounds import mean_bounds
from tasks_lib.statistics.intervals import Interval, student_t, wilson

Limits: TypeAlias = tuple[float, float]
"""The smallest and the largest number there can be."""


def average(name: str, scores: Numbers, population: int, limits: Limits | None) -> MetricValue:
    """Return the mean with its interval and its bounds.

    The interval is Wilson's for booleans, and for shares that are all 0 or all 1; else t, cut
    at the limits.

    Args:
        name: of the value.
        scores: at least one number.
        population: rows that should have one.
        limits: None where no range is known, so that there are no bounds.
    """
    # Equal scores: their very value, whatever the sum of many rounds to.
    mean = float(scores.values[0] if scores.all_equal else scores.values.mean())
    stderr = _stderr(scores)
    interval, reason = _interval(scores, mean, stderr, limits)
    bound_low, bound_high = _bounds(float(scores.values.sum()), scores.n, population, limits)
    return MetricValue(
        name,
        mean,
        scores.n,
        stderr=stderr,
        bound_low=bound_low,
        bound_high=bound_high,
        reason=reason,
    ).within(interval)


def average_of_nothing(name: str, population: int, limits: Limits | None) -> MetricValue:
    """Return the mean of no number at all: no value, and the bounds of what it could be."""
    bound_low, bound_high = _bounds(0.0, 0, population, limits)
    return MetricValue(name, None, 0, bound_low=bound_low, bound_high=bound_high)


def _stderr(scores: Numbers) -> float | None:
    """Return the standard error of the mean; None where it would be 0 or has no value."""
    if scores.all_equal:
        return None
    stderr = float(scores.values.std(ddof=1)) / sqrt(scores.n)
    return stderr if isfinite(stderr) else None


def _interval(
    scores: Numbers, mean: float, stderr: float | None, limits: Limits | None
) -> tuple[Interval | None, str | None]:
    """Return the interval, or why there is none.

    Shares that all stand at one end vary less than booleans would: Wilson's is wide enough.
    """
    at_an_end = limits == (0.0, 1.0) and scores.all_equal and mean in (0.0, 1.0)
    if scores.are_bools or at_an_end:
        return wilson(int(scores.values.sum()), scores.n), None
    if stderr:
        low, high = limits or (-inf, inf)
        reach = student_t(mean, stderr, scores.n)
        return replace(reach, low=max(reach.low, low), high=min(reach.high, high)), None
    if scores.n == 1:
        return None, "one row, so no interval"
    if scores.all_equal:
        return None, f"all {scores.n:,} scores are equal, so no interval"
    return None, "the spread is too large or too small for a float, so no interval"


def _bounds(
    total: float, n: int, population: int, limits: Limits | None
) -> tuple[float, float] | tuple[None, None]:
    if limits is None or not population:
        return None, None
    return mean_bounds(total, n, population, *limits)
