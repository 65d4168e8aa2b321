"""`string_equals`: the answer is the expected text, character for character."""

from typing import Any, Literal

from tasks_lib.metrics import Metric
from tasks_lib.metrics.mean import Mean
from tasks_lib.scorers.text_comparison import TextComparison


class StringEquals(TextComparison):
    """Exact equality of two strings: no trimming, case folding or Unicode normalisation."""

    type: Literal["string_equals"] = "string_equals"

    def compared(self, expected: str, predicted: str) -> dict[str, Any]:
        return {"is_correct": predicted == expected}

    def default_metrics(self) -> tuple[Metric, ...]:
        return (Mean(field="is_correct"),)
