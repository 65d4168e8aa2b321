"""`python`: an author's function aggregates the scores."""

from collections.abc import Mapping
from math import isfinite
from typing import Any, ClassVar, Literal

from tasks_lib.errors import MetricError, SampleError, bounded
from tasks_lib.isolation.member import Seconds, SnippetMember
from tasks_lib.metrics.base import BaseMetric, MetricValue, no_value
from tasks_lib.metrics.table import ScoreTable
from tasks_lib.snippets import SnippetSource
from tasks_lib.trace.evidence import SampleScore


class PythonMetric(SnippetMember, BaseMetric):
    """Calls `compute_metrics(scores)` with the score of every row that counts.

    Each has `.values`, `.metadata` and `.direct_ios`. The function returns a mapping of name
    to number; a number that is not finite becomes a missing value with a reason.
    """

    reads_metadata: ClassVar[bool] = True

    type: Literal["python"] = "python"
    compute_metrics_snippet: SnippetSource("compute_metrics")  # type: ignore[valid-type]
    """Python source that defines `compute_metrics`."""
    timeout: Seconds = 600.0
    """Seconds the function may take; then the metric is missing, and the reason says so."""

    def compute(self, table: ScoreTable) -> list[MetricValue]:
        if not table.n:
            return [no_value(self.key or self.type)]
        scores = [
            SampleScore.view({"values": values, "metadata": metadata, "direct_ios": []})
            for values, metadata in zip(table.rows(), table.metadata, strict=True)
        ]
        try:
            returned = self.call(self.compute_metrics_snippet, "compute_metrics", scores)
        except SampleError as error:
            raise MetricError(error.problem, error.where, error.fix) from error
        if not isinstance(returned, Mapping):
            raise MetricError(
                f"compute_metrics returned {bounded(repr(returned), 80)}",
                fix="return a dict of name to number",
            )
        return [_value(name, number, table.n) for name, number in returned.items()]


def _value(name: Any, returned: Any, n: int) -> MetricValue:
    if type(returned).__module__ == "numpy":
        returned = returned.tolist()
    if not isinstance(name, str) or not isinstance(returned, bool | int | float):
        raise MetricError(
            f"compute_metrics returned {bounded(repr(returned), 80)} under {name!r}",
            fix="return numbers or booleans under names",
        )
    try:
        number = float(returned)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        return MetricValue(name, None, n, reason=f"compute_metrics returned {number}")
    return MetricValue(name, number, n)
