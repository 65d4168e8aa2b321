"""Counts requests that were met by the required calls and no others."""

from __future__ import annotations

from typing import Any


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the share of just the right calls, of all requests and by whether any is needed."""
    exact = [
        score.values["all_required_calls_made"] and not score.values["num_unrequired_calls"]
        for score in scores
    ]
    needed = [score.values["num_required_calls_total"] > 0 for score in scores]
    return {
        "Just the right calls": _share(exact),
        "Right where calls are needed": _share(
            [mark for mark, needs in zip(exact, needed, strict=True) if needs]
        ),
        "Right where none is needed": _share(
            [mark for mark, needs in zip(exact, needed, strict=True) if not needs]
        ),
    }


def _share(marks: list[bool]) -> float:
    return sum(marks) / len(marks) if marks else float("nan")
