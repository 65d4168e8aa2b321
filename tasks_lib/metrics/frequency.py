"""`frequency`: the share of every distinct value."""

from typing import Literal

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import FieldMetric, MetricValue, no_rows, no_value
from tasks_lib.metrics.labels import label_counts
from tasks_lib.metrics.rates import RowCounts, rate
from tasks_lib.metrics.table import ScoreTable

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
            return [no_value(self.field)]
        counts = label_counts(table, self.field)
        n = counts.total()
        if not n:
            reason = no_rows(table, f"no row has a value in '{self.field}'")
            return [no_value(self.field, reason)]
        if len(counts) > MOST_VALUES:
            raise MetricError(
                f"'{self.field}' has {len(counts):,} different values",
                fix=f"frequency counts labels, at most {MOST_VALUES:,} different ones",
            )
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        rows = RowCounts(n, table.counts.n_population - n)
        return [rate(f"{self.field}_{text}", count, n, rows) for text, count in ordered]

    def value_names(self) -> tuple[str, str]:
        return (self.field, f"{self.field}_*")
