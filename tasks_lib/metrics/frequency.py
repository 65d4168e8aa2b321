"""`frequency`: the share of every distinct value."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from tasks_lib import jsontext
from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import NO_ROWS, FieldMetric, MetricValue
from tasks_lib.metrics.table import MISSING, ScoreTable
from tasks_lib.statistics.bounds import mean_bounds
from tasks_lib.statistics.intervals import wilson

MOST_VALUES = 10_000
"""Distinct values beyond which a field is no label and its shares are no summary."""


class Frequency(FieldMetric):
    """Share of every distinct value of a field, named `<field>_<value>`, commonest first.

    Values are told apart by their text: strings as they are, `True` and `False`, whole
    numbers without a fraction, null as `None`, lists and mappings as JSON. Rows that lack the
    field, and NaN, are not counted.
    """

    type: Literal["frequency"] = "frequency"

    def compute(self, table: ScoreTable) -> list[MetricValue]:
        if not (table.n or table.has(self.field)):
            return [self._nothing(NO_ROWS)]
        counts = _counts(table, self.field)
        n = counts.total()
        if not n:
            reason = f"{NO_ROWS}: no row has a value in '{self.field}'" if table.n else NO_ROWS
            return [self._nothing(reason)]
        if len(counts) > MOST_VALUES:
            raise MetricError(
                f"'{self.field}' has {len(counts):,} different values",
                fix=f"frequency counts labels, at most {MOST_VALUES:,} different ones",
            )
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return [self._share(text, count, n, table) for text, count in ordered]

    def _share(self, text: str, count: int, n: int, table: ScoreTable) -> MetricValue:
        interval = wilson(count, n)
        bound_low, bound_high = mean_bounds(
            float(count), n, table.counts.n_population, low=0.0, high=1.0
        )
        return MetricValue(
            f"{self.field}_{text}",
            count / n,
            n,
            stderr=(count / n * (1 - count / n) / (n - 1)) ** 0.5 if count < n else None,
            ci_low=interval.low,
            ci_high=interval.high,
            ci_level=interval.level,
            ci_method=interval.method,
            bound_low=bound_low,
            bound_high=bound_high,
        )

    def _nothing(self, reason: str) -> MetricValue:
        return MetricValue(self.field, None, 0, reason=reason)


def _counts(table: ScoreTable, field: str) -> Counter[str]:
    """Return how often each value occurs, by its text."""
    column = table.stored(field)
    if isinstance(column, Sequence):
        return Counter(_text(value) for value in column if not _lacks(value))
    counts: Counter[str] = Counter()
    for entry in column.value_counts().to_pylist():
        if not _lacks(entry["values"]):
            counts[_text(entry["values"])] += entry["counts"]
    return counts


def _lacks(value: Any) -> bool:
    return value is MISSING or (isinstance(value, float) and value != value)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # numbers are stored as floats; a label 3 stays "3"
    if isinstance(value, list | dict):
        return jsontext.dumps(value)
    return str(value)
