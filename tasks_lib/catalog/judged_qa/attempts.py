"""Parts answers that were not attempted from answers that are wrong."""

from __future__ import annotations

from collections import Counter
from typing import Any


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the shares of the judge's labels, and how many of the attempts are correct."""
    labels = Counter(score.metadata["prediction"] for score in scores)
    attempts = labels["correct"] + labels["incorrect"]
    return {
        "Incorrect": labels["incorrect"] / len(scores),
        "Not attempted": labels["not_attempted"] / len(scores),
        "Correct of attempted": labels["correct"] / attempts if attempts else float("nan"),
    }
