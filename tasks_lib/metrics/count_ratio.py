"""What the metrics of true and false counts share: each sample brings several of each."""

from abc import abstractmethod
from dataclasses import replace
from typing import ClassVar

from tasks_lib.errors import MetricError, bounded
from tasks_lib.metrics.base import BaseMetric, MetricValue, key_of, no_rows, no_value, reasons
from tasks_lib.metrics.numbers import Array, numbers_of_rows
from tasks_lib.metrics.table import ScoreTable
from tasks_lib.statistics.intervals import student_t
from tasks_lib.statistics.ratios import ratio_stderr

LARGEST_COUNT = 2**53
"""Beyond it floats skip integers, and sums of many overflow at some point."""


class CountRatio(BaseMetric):
    """True positives over all that were counted, after each count is summed over the rows.

    Rows that lack one of the counts are left out. Where nothing was counted the ratio is 0.
    The interval is a t interval with rows as units, cut to [0, 1]; counts have no known
    range, so there are no bounds.
    """

    num_true_positives_field: str
    """Score field with the number of true positives of a row."""
    name: str | None = None
    """Name of the value; the type where it is left out."""

    true_weight: ClassVar[int] = 1
    """How often a true positive counts."""

    @property
    @abstractmethod
    def false_fields(self) -> tuple[str, ...]:
        """Score fields with the numbers of what counts against it."""

    def compute(self, table: ScoreTable) -> list[MetricValue]:
        (name,) = self.value_names()
        fields = (self.num_true_positives_field, *self.false_fields)
        if not (table.n or any(map(table.has, fields))):
            return [no_value(name)]
        true, *false = numbers_of_rows(table, fields)
        for field, counts in zip(fields, (true, *false), strict=True):
            _check(field, counts)
        if not len(true):
            return [no_value(name, no_rows(table, f"none has all of {_listed(fields)}"))]
        parts = self.true_weight * true
        return [_value(name, parts, sum(false, start=parts), _gaps(fields, len(true), table))]

    def value_names(self) -> tuple[str]:
        return (self.name or self.type,)

    def made_key(self) -> str:
        return key_of(self.name, self.type)


def _value(name: str, parts: Array, wholes: Array, gaps: str | None) -> MetricValue:
    n, whole = len(parts), float(wholes.sum())
    if not whole:
        reason = reasons("nothing was counted, so 0 by definition", gaps)
        return MetricValue(name, 0.0, n, reason=reason)
    ratio = float(parts.sum()) / whole
    stderr = ratio_stderr(parts, wholes)
    if not stderr:
        why = "one row" if n == 1 else "all rows have this ratio"
        return MetricValue(name, ratio, n, reason=reasons(f"{why}, so no interval", gaps))
    found = student_t(ratio, stderr, n)
    interval = replace(found, low=max(found.low, 0.0), high=min(found.high, 1.0))
    return MetricValue(name, ratio, n, stderr=stderr, reason=gaps).within(interval)


def _check(field: str, counts: Array) -> None:
    wrong = counts[~((counts >= 0) & (counts <= LARGEST_COUNT))]
    if len(wrong):
        raise MetricError(
            f"'{field}' holds {bounded(str(float(wrong[0])), 40)}, which is no count",
            fix="let the scorer return how many there are, 0 or more",
        )


def _gaps(fields: tuple[str, ...], used: int, table: ScoreTable) -> str | None:
    if used == table.n:
        return None
    return f"{table.n - used:,} of {table.n:,} scored rows lack one of {_listed(fields)}"


def _listed(fields: tuple[str, ...]) -> str:
    return ", ".join(f"'{field}'" for field in fields)
