"""`f1_score`: the harmonic mean of precision and recall."""

from typing import ClassVar, Literal

from tasks_lib.metrics.count_ratio import CountRatio


class F1Score(CountRatio):
    """`2 TP / (2 TP + FP + FN)`, of counts summed over the rows."""

    type: Literal["f1_score"] = "f1_score"
    num_false_positives_field: str
    """Score field with the number of false positives of a row."""
    num_false_negatives_field: str
    """Score field with the number of false negatives of a row."""

    true_weight: ClassVar[int] = 2

    @property
    def false_fields(self) -> tuple[str, ...]:
        return (self.num_false_positives_field, self.num_false_negatives_field)
