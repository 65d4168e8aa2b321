"""The metrics a scorer may name.

A metric is a definition that reduces a `ScoreTable`, one scorer's scores of all rows that
count, to `MetricValue`s: numbers with an interval, bounds, and the reason where one is
missing. What members share: `number_metric` (one number of one field) on `numbers`,
`count_ratio` (ratios of summed counts), `classification` (two label fields) on `labels`;
`averages` and `rates` add what may be claimed of a mean or a share.

To add one: write its file with a `compute(table)`, list it below, and add an example to
`tests/metrics/test_union.py`.
"""

from typing import Annotated

from pydantic import Field

from tasks_lib.metrics.binary_classification import BinaryClassification
from tasks_lib.metrics.f1_score import F1Score
from tasks_lib.metrics.frequency import Frequency
from tasks_lib.metrics.max import Max
from tasks_lib.metrics.mean import Mean
from tasks_lib.metrics.min import Min
from tasks_lib.metrics.multiclass_classification import MulticlassClassification
from tasks_lib.metrics.precision import Precision
from tasks_lib.metrics.python import PythonMetric
from tasks_lib.metrics.recall import Recall
from tasks_lib.metrics.std_dev import StdDev
from tasks_lib.metrics.weighted_average import WeightedAverage

Metric = Annotated[
    Mean
    | Min
    | Max
    | StdDev
    | Frequency
    | WeightedAverage
    | Precision
    | Recall
    | F1Score
    | BinaryClassification
    | MulticlassClassification
    | PythonMetric,
    Field(discriminator="type"),
]

__all__ = ["Metric"]
