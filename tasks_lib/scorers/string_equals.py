"""`string_equals`: the answer is the expected text, character for character."""

from typing import Any, Literal

from tasks_lib.scorers.text_comparison import TextComparison


class StringEquals(TextComparison):
    """Exact equality of two strings: no trimming, case folding or Unicode normalisation."""

    type: Literal["string_equals"] = "string_equals"

    def compared(self, expected: str, predicted: str) -> dict[str, Any]:
        return {"is_correct": predicted == expected}

    def averaged(self) -> tuple[str, ...]:
        return ("is_correct",)
