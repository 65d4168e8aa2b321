"""What the metrics of expected and predicted labels share."""

from abc import abstractmethod
from collections import Counter

from tasks_lib.metrics.base import BaseMetric, MetricValue, no_rows, no_value
from tasks_lib.metrics.labels import label_pairs
from tasks_lib.metrics.rates import RowCounts
from tasks_lib.metrics.table import ScoreTable

Pairs = Counter[tuple[str, str]]
"""(expected, predicted) -> in how many rows."""


class Classification(BaseMetric):
    """Numbers that tell how well one score field's labels agree with another's.

    Labels are told by their text, as `frequency` names them. Rows in which one is null, NaN
    or lacking can't be used; they count as unscored in the bounds.
    """

    field_gt: str
    """Score field with the expected label."""
    field_pred: str
    """Score field with the predicted label."""

    @abstractmethod
    def summed_up(self, pairs: Pairs, rows: RowCounts) -> list[MetricValue]:
        """Return the numbers of at least one pair."""

    def usable(self, pairs: Pairs) -> Pairs:
        """Return the pairs the metric is about."""
        return pairs

    def foreign(self, pairs: Pairs) -> int:
        """Return how many rows the metric is not about, whatever their prediction."""
        return 0

    def compute(self, table: ScoreTable) -> list[MetricValue]:
        fields = f"'{self.field_gt}' and '{self.field_pred}'"
        if not (table.n or table.has(self.field_gt) or table.has(self.field_pred)):
            return [no_value("accuracy")]
        found = label_pairs(table, self.field_gt, self.field_pred)
        pairs = self.usable(found)
        used = pairs.total()
        if not used:
            return [no_value("accuracy", no_rows(table, f"none has usable labels in {fields}"))]
        unscored = table.counts.n_population - self.foreign(found) - used
        gaps = f"{table.n - used:,} of {table.n:,} scored rows have no usable labels in {fields}"
        return self.summed_up(pairs, RowCounts(used, unscored, gaps if used < table.n else None))
