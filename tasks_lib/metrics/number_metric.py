"""What the metrics of one numeric field share: names, empty fields, notes."""

from abc import abstractmethod
from dataclasses import replace
from math import isfinite
from typing import ClassVar

from tasks_lib.metrics.base import (
    FieldMetric,
    MetricValue,
    key_of,
    no_rows,
    no_value,
    reasons,
)
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

        (name,) = self.value_names()
        if not (table.n or table.has(self.field)):
            return [no_value(name)]
        scores = self.read(table)
        if not scores.n:
            empty = self.when_empty(name, scores, table)
            reason = no_rows(table, f"'{self.field}' is null or NaN in all {table.n:,}")
            return [replace(empty, reason=reason)]
        with np.errstate(all="ignore"):  # infinite scores are told below, in words
            found = self.reduce(name, scores, table)
        if found.value is not None and not isfinite(found.value):
            found = MetricValue(name, None, scores.n, reason=_not_finite(scores))
        return [replace(found, reason=reasons(found.reason, self._gaps(scores.n, table)))]

    def value_names(self) -> tuple[str]:
        return (self.name or f"{self.field}_{self.type}",)

    def _gaps(self, used: int, table: ScoreTable) -> str | None:
        """Return how many rows of the table have no usable value; None where all have one."""
        if used == table.n:
            return None
        missing = f"{table.n - used:,} of {table.n:,} scored rows"
        return f"{missing} have no {self.noun} in '{self.field}'"

    def made_key(self) -> str:
        return key_of(self.name, super().made_key())


def _not_finite(scores: Numbers) -> str:
    import numpy as np

    infinite = int(np.isinf(scores.values).sum())
    if infinite:
        return f"{infinite:,} of {scores.n:,} scores are infinite, so there is no such number"
    return "the scores are too large to add up"
