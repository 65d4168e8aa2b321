"""`mean`: the average of a score, with an interval."""

from typing import Literal

from tasks_lib.metrics.averages import Limits, average, average_of_nothing
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable


class Mean(NumberMetric):
    """Average of a field: a rate with Wilson's interval for booleans, else with a t interval."""

    type: Literal["mean"] = "mean"

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return average(name, scores, table.counts.n_population, self._limits(scores, table))

    def when_empty(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return average_of_nothing(name, table.counts.n_population, self._limits(scores, table))

    def _limits(self, scores: Numbers, table: ScoreTable) -> Limits | None:
        """Return the range of rates, of one row or of several; other numbers have none known."""
        return (0.0, 1.0) if scores.are_bools or self.field in table.shares else None
