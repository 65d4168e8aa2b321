"""`multiclass-classification`: how well predictions of many labels agree with the truth."""

from collections import Counter
from collections.abc import Iterator
from statistics import fmean
from typing import Literal

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.classification import Classification, Pairs
from tasks_lib.metrics.rates import RowCounts, f1_rate, rate

MOST_CLASSES = 1_000
"""Different labels beyond which a field holds no classes."""

_MEASURES = ("precision", "recall", "f1_score")


class MulticlassClassification(Classification):
    """Accuracy, and precision, recall and F1 of every class and averaged over the classes.

    Classes are the labels that occur in either field, sorted. Averages weigh every class the
    same and have no interval.
    """

    type: Literal["multiclass-classification"] = "multiclass-classification"

    def value_names(self) -> tuple[str, ...]:
        return ("accuracy", *(f"*_{measure}" for measure in _MEASURES))

    def summed_up(self, pairs: Pairs, rows: RowCounts) -> list[MetricValue]:
        classes = sorted({text for pair in pairs for text in pair})
        if len(classes) > MOST_CLASSES:
            raise MetricError(
                f"'{self.field_gt}' and '{self.field_pred}' have {len(classes):,} different values",
                fix=f"use fields that hold classes, at most {MOST_CLASSES:,} different ones",
            )
        if "macro" in classes:
            raise MetricError(
                "a class is called 'macro', as the averages over the classes are",
                fix="give that class another name",
            )
        each = list(_each(classes, pairs, rows))
        hits = sum(pairs[name, name] for name in classes)
        return [
            rate("accuracy", hits, rows.used, rows),
            *each,
            *(
                MetricValue(f"macro_{measure}", _mean(each[at::3]), rows.used, reason=rows.reason())
                for at, measure in enumerate(_MEASURES)
            ),
        ]


def _each(classes: list[str], pairs: Pairs, rows: RowCounts) -> Iterator[MetricValue]:
    """Yield the measures of every class."""
    true: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    for (one, other), count in pairs.items():
        true[one] += count
        predicted[other] += count
    for name in classes:
        hits = pairs[name, name]
        yield rate(
            f"{name}_precision", hits, predicted[name], rows, f"no row was predicted '{name}'"
        )
        yield rate(f"{name}_recall", hits, true[name], rows, f"no row is '{name}'")
        yield f1_rate(f"{name}_f1_score", hits, true[name] + predicted[name] - 2 * hits, rows)


def _mean(values: list[MetricValue]) -> float:
    return fmean(value.value or 0.0 for value in values)
