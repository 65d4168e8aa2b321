"""`std_dev`: how far the scores spread."""

from typing import Literal

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable


class StdDev(NumberMetric):
    """Sample standard deviation of a field (divisor n - 1); 0 for a single row."""

    type: Literal["std_dev"] = "std_dev"

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        if scores.n == 1:
            return MetricValue(name, 0.0, 1, reason="one row, which has no spread")
        if scores.all_equal:
            return MetricValue(name, 0.0, scores.n)  # exactly, whatever the mean rounds to
        return MetricValue(name, float(scores.values.std(ddof=1)), scores.n)
