"""`binary-classification`: how well yes-or-no predictions agree with the truth."""

from typing import Literal, Self

from pydantic import model_validator

from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.classification import Classification, Pairs
from tasks_lib.metrics.rates import RowCounts, f1_rate, rate

_COUNTS = ("true_positives", "false_positives", "true_negatives", "false_negatives")


class BinaryClassification(Classification):
    """Accuracy, precision, recall, F1 and the four counts of a two-label classification.

    Only rows whose two labels are both one of the answers are used. A row with another
    expected label is none of its business; one with another prediction counts as unscored in
    the bounds.
    """

    type: Literal["binary-classification"] = "binary-classification"
    positive_answer: str
    """Label that counts as positive."""
    negative_answer: str
    """Label that counts as negative."""

    @model_validator(mode="after")
    def _answers_differ(self) -> Self:
        if self.positive_answer == self.negative_answer:
            raise ValueError(f"both answers are '{self.positive_answer}'; they must differ")
        return self

    def usable(self, pairs: Pairs) -> Pairs:
        answers = {self.positive_answer, self.negative_answer}
        return Pairs({pair: count for pair, count in pairs.items() if answers.issuperset(pair)})

    def foreign(self, pairs: Pairs) -> int:
        answers = {self.positive_answer, self.negative_answer}
        return sum(count for (truth, _), count in pairs.items() if truth not in answers)

    def value_names(self) -> tuple[str, ...]:
        return ("accuracy", "precision", "recall", "f1_score", *_COUNTS)

    def summed_up(self, pairs: Pairs, rows: RowCounts) -> list[MetricValue]:
        yes, no = self.positive_answer, self.negative_answer
        tp, fn, fp, tn = pairs[yes, yes], pairs[yes, no], pairs[no, yes], pairs[no, no]
        return [
            rate("accuracy", tp + tn, rows.used, rows),
            rate("precision", tp, tp + fp, rows, f"no row was predicted '{yes}'"),
            rate("recall", tp, tp + fn, rows, f"no row is '{yes}'"),
            f1_rate("f1_score", tp, fp + fn, rows, f"no row is or was predicted '{yes}'"),
            *(
                MetricValue(name, float(count), rows.used, reason=rows.reason())
                for name, count in zip(_COUNTS, (tp, fp, tn, fn), strict=True)
            ),
        ]
