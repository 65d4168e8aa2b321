"""`min`: the smallest score."""

from typing import Literal

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable


class Min(NumberMetric):
    """The smallest value of a field; true is 1, false is 0."""

    type: Literal["min"] = "min"

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return MetricValue(name, float(scores.values.min()), scores.n)
