"""Tells how the model handles letters, apart from whether it knows the answers."""

from __future__ import annotations

from collections import Counter
from typing import Any


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the share of replies that choose at all, and each letter's surplus.

    A letter's surplus is the share of rows where it was chosen minus the share where it is
    right: far from zero, the model prefers a place in the list.
    """
    answers = [score.metadata for score in scores]
    valid = [one for one in answers if one["completion_validity"] == "valid"]
    chosen = Counter(one["predicted_choice"] for one in valid)
    right = Counter(one["ground_truth_correct_choice"] for one in answers)
    letters = sorted({letter for one in answers for letter in one["ground_truth_choices"]})
    surplus = {
        f"Surplus of {letter}": (chosen[letter] - right[letter]) / len(answers)
        for letter in letters
    }
    return {"Valid choice": len(valid) / len(answers), **surplus}
