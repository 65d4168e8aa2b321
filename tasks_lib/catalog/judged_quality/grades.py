"""Tells how the grades are spread; a mean hides answers that nobody can use."""

from __future__ import annotations

from typing import Any


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the mean grade and the shares of bad (1, 2) and of good (4, 5) ones."""
    grades = [score.metadata["raw_score"] for score in scores]
    return {
        "Mean grade": sum(grades) / len(grades),
        "Grades 1 and 2": sum(grade < 2.5 for grade in grades) / len(grades),
        "Grades 4 and 5": sum(grade >= 3.5 for grade in grades) / len(grades),
    }
