"""What the metrics of one numeric field share: names, empty fields, notes."""

from abc import abstractmethod
from dataclasses import replace
from math import isfinite
from typing import ClassVar

from tasks_lib.metrics.base import NO_ROWS, FieldMetric, MetricValue, key_of
from tasks_lib.metrics.numbers import Numbers, numbers
from tasks_lib.metrics.table import ScoreTable


class NumberMetric(FieldMetric):
    """One number out of a numeric field.

    Booleans count as 1 and 0; null, NaN and lacking values are left out and counted in the
    reason. A result that is not finite, because scores are infinite, is no value.
    """

    name: str | None = None
    """Name of the value; `<field>_<type>` where it is left out."""

    noun: ClassVar[str] = "number"
    """What a row must hold to be used."""

    def read(self, table: ScoreTable) -> Numbers:
        """Return the numbers to reduce.

        Raises:
            MetricError: no row has the field, or it holds what this metric can't use.
        """
        return numbers(table, self.field)

    @abstractmethod
    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        """Return the value of at least one number, under `name`; it may be infinite."""

    def when_empty(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        """Return what there is to say of no number at all; the reason is filled in by `compute`."""
        return MetricValue(name, None, 0)

    def compute(self, table: ScoreTable) -> list[MetricValue]:
        import numpy as np

        name = self.name or f"{self.field}_{self.type}"
        if not (table.n or table.has(self.field)):
            return [MetricValue(name, None, 0, reason=NO_ROWS)]
        scores = self.read(table)
        if not scores.n:
            empty = self.when_empty(name, scores, table)
            return [replace(empty, reason=_nothing_scored(self.field, table))]
        with np.errstate(all="ignore"):  # infinite scores are told below, in words
            found = self.reduce(name, scores, table)
        if found.value is not None and not isfinite(found.value):
            found = MetricValue(name, None, scores.n, reason=_not_finite(scores))
        return [replace(found, reason=self._with_gaps(found.reason, scores.n, table))]

    def _with_gaps(self, reason: str | None, used: int, table: ScoreTable) -> str | None:
        """Add to `reason` how many rows of the table have no usable value."""
        if used == table.n:
            return reason
        missing = f"{table.n - used:,} of {table.n:,} scored rows"
        gaps = f"{missing} have no {self.noun} in '{self.field}'"
        return f"{reason}; {gaps}" if reason else gaps

    def made_key(self) -> str:
        return key_of(self.name, super().made_key())


def _nothing_scored(field: str, table: ScoreTable) -> str:
    if not table.n:
        return NO_ROWS
    return f"{NO_ROWS}: '{field}' is null or NaN in all {table.n:,}"


def _not_finite(scores: Numbers) -> str:
    import numpy as np

    infinite = int(np.isinf(scores.values).sum())
    if infinite:
        return f"{infinite:,} of {scores.n:,} scores are infinite, so there is no such number"
    return "the scores are too large to add up"
