"""Tells which kinds of instructions are kept."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the share of instructions kept, for each kind of check."""
    kept = defaultdict(list)
    for score in scores:
        for check in score.metadata["checks"]:
            kept[check["check"]].append(check["kept"])
    return {f"Kept: {name}": sum(marks) / len(marks) for name, marks in sorted(kept.items())}
