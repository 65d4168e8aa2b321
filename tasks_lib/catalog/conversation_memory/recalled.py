"""Decides whether the last reply names the fact that the user told at the start."""

from __future__ import annotations

import re
from typing import Any

_ANSWER_COLUMN = "<< config.answer_column >>"
_DENIAL = re.compile(
    r"\b(?:do not|don't|can't|cannot|did not|didn't|haven't|have not|unable to)\s+"
    r"(?:\w+\s+){0,3}?(?:know|recall|remember|mention|mentioned|tell|told|say|said|access|see|have)\b"
    r"|\bno (?:memory|record|information)\b",
    re.IGNORECASE,
)


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score the last reply.

    Scores: `is_recalled`, it holds the fact as words of its own, case apart; `denies`, it
    does not and says that it does not know.
    """
    reply = (solver_output.trace.get_last_assistant_text() or "").replace("\u2019", "'")
    answer = sample[_ANSWER_COLUMN]
    names = answer if isinstance(answer, list) else [answer]
    is_recalled = any(
        re.search(rf"(?<!\w){re.escape(str(name))}(?!\w)", reply, re.IGNORECASE) for name in names
    )
    denies = not is_recalled and _DENIAL.search(reply) is not None
    return {"is_recalled": is_recalled, "denies": denies}
