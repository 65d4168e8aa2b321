"""Metric values of shares that are counted in rows: rates, and the F1 of two of them."""

from dataclasses import dataclass, replace
from math import sqrt

from tasks_lib.metrics.base import MetricValue, reasons
from tasks_lib.statistics.bounds import mean_bounds
from tasks_lib.statistics.intervals import wilson


@dataclass(frozen=True, slots=True)
class RowCounts:
    """The rows behind a metric's values.

    Attributes:
        used: rows that were counted.
        unscored: rows that should have been and could not; whatever they were, the value lies
            within its bounds.
        note: what to say of rows that were left out; None when there are none.
    """

    used: int
    unscored: int
    note: str | None = None

    def reason(self, said: str | None = None) -> str | None:
        """Return `said` and the note as one reason; None when there is neither."""
        return reasons(said, self.note)


def rate(name: str, hits: int, of: int, rows: RowCounts, if_none: str = "") -> MetricValue:
    """Return the share `hits / of` with Wilson's interval and its bounds; 0 where `of` is 0.

    Args:
        name: of the value.
        hits: rows that count for it.
        of: rows it is a share of, at least `hits`.
        rows: all rows of the metric.
        if_none: why there may be nothing to take a share of, for the reason.
    """
    if not of:
        return _zero(name, rows, if_none)
    share = hits / of
    low, high = mean_bounds(float(hits), of, of + rows.unscored, low=0.0, high=1.0)
    return MetricValue(
        name,
        share,
        rows.used,
        stderr=sqrt(share * (1 - share) / (of - 1)) if 0 < hits < of else None,
        bound_low=low,
        bound_high=high,
        reason=rows.reason(),
    ).within(wilson(hits, of))


def f1_rate(name: str, hits: int, misses: int, rows: RowCounts, if_none: str = "") -> MetricValue:
    """Return `2 hits / (2 hits + misses)`; 0 where both are 0.

    F1 rises with the overlap `hits / (hits + misses)`, which is a rate: interval and bounds
    are the overlap's, carried over.

    Args:
        name: of the value.
        hits: true positives.
        misses: false positives and false negatives.
        rows: all rows of the metric.
        if_none: why both may be 0, for the reason.
    """
    overlap = rate(name, hits, hits + misses, rows, if_none)
    if overlap.stderr is not None:
        share = hits / (hits + misses)
        overlap = replace(overlap, stderr=2 / (1 + share) ** 2 * overlap.stderr)
    return replace(
        overlap,
        value=2 * hits / (2 * hits + misses) if hits else 0.0,
        ci_low=_f1(overlap.ci_low),
        ci_high=_f1(overlap.ci_high),
        bound_low=_f1(overlap.bound_low),
        bound_high=_f1(overlap.bound_high),
    )


def _f1(overlap: float | None) -> float | None:
    return None if overlap is None else 2 * overlap / (1 + overlap)


def _zero(name: str, rows: RowCounts, why: str) -> MetricValue:
    high = 1.0 if rows.unscored else 0.0
    reason = rows.reason(f"{why}, so 0 by definition")
    return MetricValue(name, 0.0, rows.used, bound_low=0.0, bound_high=high, reason=reason)
