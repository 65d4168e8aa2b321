"""What a metric is: a definition that reduces one scorer's scores to named numbers."""

from abc import ABC, abstractmethod
from dataclasses import astuple, dataclass, replace
from typing import ClassVar

from tasks_lib.base import Definition
from tasks_lib.keys import LONGEST_KEY, UserKey, sanitised
from tasks_lib.metrics.table import ScoreTable
from tasks_lib.statistics.intervals import Interval

NO_ROWS = "no scored rows"
"""How the reason of a value starts that is missing because nothing was scored."""


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One number a metric gives, with what may be claimed of it.

    Attributes:
        name: unique within the metric.
        value: always finite; None when there is no such number, and `reason` says why.
        n: rows behind `value`.
        stderr: standard error; None where it is unknown or would be 0.
        ci_low: lower end of the confidence interval; None without one.
        ci_high: upper end.
        ci_level: confidence of the interval, such as 0.95.
        ci_method: `wilson` or `t`.
        bound_low: `value` if every unscored row were worst; None where scores have no known range.
        bound_high: `value` if every unscored row were best.
        reason: what is missing and why; None when there is nothing to say.
    """

    name: str
    value: float | None
    n: int
    stderr: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    ci_level: float | None = None
    ci_method: str | None = None
    bound_low: float | None = None
    bound_high: float | None = None
    reason: str | None = None

    def within(self, interval: Interval | None) -> "MetricValue":
        """Return the value with its confidence interval, if it has one."""
        if interval is None:
            return self
        low, high, level, method = astuple(interval)
        return replace(self, ci_low=low, ci_high=high, ci_level=level, ci_method=method)


def no_value(name: str, reason: str = NO_ROWS) -> MetricValue:
    """Return that no row gave a number, and why."""
    return MetricValue(name, None, 0, reason=reason)


def no_rows(table: ScoreTable, why: str) -> str:
    """Return the reason of a value without rows: there are none, or `why` none of them counts."""
    return f"{NO_ROWS}: {why}" if table.n else NO_ROWS


def reasons(*said: str | None) -> str | None:
    """Return what is said as one reason; None when nothing is."""
    return "; ".join(filter(None, said)) or None


def key_of(name: str | None, otherwise: str) -> str:
    """Return the key made from `name`; `otherwise` without one or when it gives no key."""
    try:
        return sanitised(name) if name else otherwise
    except ValueError:
        return otherwise  # a name without a letter a key may hold


class BaseMetric(Definition, ABC):
    """Reduces the scores of one scorer to named numbers."""

    reads_metadata: ClassVar[bool] = False
    """Whether `compute` looks at what scorers noted beside the scores."""

    type: str
    key: UserKey | None = None
    """Name in results; made from `name`, else from type and field, where it is left out."""

    @abstractmethod
    def compute(self, table: ScoreTable) -> list[MetricValue]:
        """Return the numbers; one without usable rows has value None and a reason.

        Raises:
            MetricError: a field does not exist or holds what this metric can't use.
        """

    def value_names(self) -> tuple[str, ...]:
        """Return how the numbers may be called; `*` stands for what only the scores tell."""
        return ("*",)

    def made_key(self) -> str:
        """Return the key used when the author gives none; not yet unique."""
        return self.type


class FieldMetric(BaseMetric, ABC):
    """A metric of one score field."""

    field: str
    """Score field to aggregate."""

    def made_key(self) -> str:
        return sanitised(f"{self.type}_{self.field}"[:LONGEST_KEY])
