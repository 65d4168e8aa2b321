"""Reads the label that a reply gives, and compares it with the right one."""

from __future__ import annotations

import ast
import re
from typing import Any

_LABELS = list(ast.literal_eval(r"""<< config.labels >>"""))
_LABEL_COLUMN = "<< config.label_column >>"
_UNREADABLE = "(unreadable)"


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one reply.

    Scores: `label`, the right one; `predicted`, the one given, or `(unreadable)`;
    `is_correct` and `is_unreadable`.
    """
    label = str(sample[_LABEL_COLUMN])
    if label not in _LABELS:
        raise ValueError(f"the dataset has the label '{label}', which is not among {_LABELS}")
    predicted = given_label(solver_output.trace.get_last_assistant_text() or "")
    return {
        "label": label,
        "predicted": predicted or _UNREADABLE,
        "is_correct": predicted == label,
        "is_unreadable": predicted is None,
    }


def given_label(reply: str) -> str | None:
    """Return the one label that a reply names as words of its own, case apart; else None."""
    found = []
    rest = reply
    for label in sorted(_LABELS, key=len, reverse=True):  # `refund request` before `refund`
        rest, count = re.subn(rf"(?<!\w){re.escape(label)}(?!\w)", " ", rest, flags=re.IGNORECASE)
        found += [label] * (count > 0)
    return found[0] if len(found) == 1 else None
