"""`max`: the largest score."""

from typing import Literal

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable


class Max(NumberMetric):
    """The largest value of a field; true is 1, false is 0."""

    type: Literal["max"] = "max"

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return MetricValue(name, float(scores.values.max()), scores.n)
