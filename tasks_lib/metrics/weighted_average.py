"""`weighted_average`: the average of what labels are worth."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator

from tasks_lib.errors import MetricError, bounded
from tasks_lib.metrics.averages import Limits, average, average_of_nothing
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.labels import label_counts
from tasks_lib.metrics.number_metric import NumberMetric
from tasks_lib.metrics.numbers import Numbers
from tasks_lib.metrics.table import ScoreTable


def _of_some_label(weights: dict[str, float]) -> dict[str, float]:
    if not weights:
        raise ValueError("no label has a weight; give at least one")
    return weights


class WeightedAverage(NumberMetric):
    """Sum of the labels' weights over the number of rows, not over the sum of the weights.

    A label is told by its text, as `frequency` names it. Null counts where `None` has a
    weight and is left out elsewhere; a label without a weight is an error.
    """

    type: Literal["weighted_average"] = "weighted_average"
    weights: Annotated[dict[str, float], AfterValidator(_of_some_label)]
    """Label -> what one row with it is worth; booleans are `True` and `False`."""

    noun: ClassVar[str] = "label"

    def __hash__(self) -> int:
        return hash((self.key, self.field, self.name, frozenset(self.weights.items())))

    def read(self, table: ScoreTable) -> Numbers:
        import numpy as np

        counts = label_counts(table, self.field, with_null="None" in self.weights)
        unknown = sorted(counts.keys() - self.weights.keys())
        if unknown:
            known = ", ".join(f"'{text}'" for text in self.weights)
            raise MetricError(
                f"'{self.field}' holds {bounded(repr(unknown[0]), 80)}, which has no weight",
                fix=f"give it one; labels with a weight: {bounded(known)}",
            )
        labels = sorted(counts)
        worth = np.array([self.weights[text] for text in labels], dtype=np.float64)
        return Numbers(np.repeat(worth, [counts[text] for text in labels]), are_bools=False)

    def reduce(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return average(name, scores, table.counts.n_population, self._limits)

    def when_empty(self, name: str, scores: Numbers, table: ScoreTable) -> MetricValue:
        return average_of_nothing(name, table.counts.n_population, self._limits)

    @property
    def _limits(self) -> Limits:
        return min(self.weights.values()), max(self.weights.values())
