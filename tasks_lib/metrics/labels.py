"""Score fields as labels, by the rules all label metrics share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from tasks_lib import jsontext
from tasks_lib.metrics.table import MISSING, ScoreTable


def label(value: Any) -> str:
    """Return the text that `value` is told apart by.

    Strings are their own, booleans `True` and `False`, whole numbers have no fraction, null is
    `None`, lists and mappings are JSON.
    """
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # numbers are stored as floats; a label 3 stays "3"
    if isinstance(value, list | dict):
        return jsontext.dumps(value)
    return str(value)


def label_counts(table: ScoreTable, field: str, *, with_null: bool = True) -> Counter[str]:
    """Return how often each label occurs; lacking values and NaN are not counted.

    Args:
        table: the scores.
        field: the score field.
        with_null: whether null is the label `None`, or not counted either.

    Raises:
        MetricError: no row has the field.
    """
    column = table.stored(field)
    if isinstance(column, Sequence):
        counted = Counter(label(value) for value in column if _counts(value, with_null))
    else:
        counted = Counter()
        for entry in column.value_counts().to_pylist():
            if _counts(entry["values"], with_null):
                counted[label(entry["values"])] += entry["counts"]
    return counted


def label_pairs(table: ScoreTable, first: str, second: str) -> Counter[tuple[str, str]]:
    """Return how often each pair of labels occurs in a row; null, NaN and lacking are none.

    Raises:
        MetricError: no row has one of the fields.
    """
    columns = table.stored(first), table.stored(second)
    if any(isinstance(column, Sequence) for column in columns):
        values = zip(table.column(first), table.column(second), strict=True)
        return Counter(
            (label(one), label(other))
            for one, other in values
            if _counts(one, False) and _counts(other, False)
        )
    return _grouped_pairs(*columns)


def _grouped_pairs(first: Any, second: Any) -> Counter[tuple[str, str]]:
    """Count pairs of two Arrow columns without a Python object a row."""
    import pyarrow as pa

    both = pa.table([first, second], names=["first", "second"])
    pairs: Counter[tuple[str, str]] = Counter()
    for entry in both.group_by(["first", "second"]).aggregate([([], "count_all")]).to_pylist():
        one, other = entry["first"], entry["second"]
        if _counts(one, False) and _counts(other, False):
            pairs[label(one), label(other)] += entry["count_all"]
    return pairs


def _counts(value: Any, with_null: bool) -> bool:
    if value is None:
        return with_null
    return value is not MISSING and not (isinstance(value, float) and value != value)
