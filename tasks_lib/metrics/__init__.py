"""The metrics a scorer may name. To add one: write its file, then list it here."""

from typing import Annotated

from pydantic import Field

from tasks_lib.metrics.frequency import Frequency
from tasks_lib.metrics.max import Max
from tasks_lib.metrics.mean import Mean
from tasks_lib.metrics.min import Min
from tasks_lib.metrics.python import PythonMetric
from tasks_lib.metrics.std_dev import StdDev

Metric = Annotated[
    Mean | Min | Max | StdDev | Frequency | PythonMetric,
    Field(discriminator="type"),
]

__all__ = ["Metric"]
