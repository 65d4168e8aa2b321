"""Tells in which columns values are missing."""

from __future__ import annotations

import ast
from collections import Counter
from typing import Any

_COLUMNS = ast.literal_eval(r"""<< config.columns >>""")


def compute_metrics(scores: list[Any]) -> dict[str, float]:
    """Return the share of rows without a value, for each column."""
    missing = Counter(column for score in scores for column in score.metadata["missing"])
    return {f"Missing: {column}": missing[column] / len(scores) for column in _COLUMNS}
