"""Compares a reply with the accepted answers, writing habits apart.

Case, punctuation, articles and spacing do not matter; spelling and accents do.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from typing import Any

_ANSWER_COLUMN = "<< config.answer_column >>"
_ARTICLES = re.compile(r"\b(?:a|an|the)\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}\b)")
_MEANT = "#%&@"  # punctuation by Unicode's tables that carries meaning: C#, 5 %


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one reply against the accepted answer that it is closest to.

    Scores: `is_correct`, it is the same answer; `token_f1`, how many words they share, from
    0 to 1.
    """
    reply = normalised(solver_output.trace.get_last_assistant_text() or "")
    answer = sample[_ANSWER_COLUMN]
    accepted = [normalised(str(one)) for one in (answer if isinstance(answer, list) else [answer])]
    return {
        "scores": {
            "is_correct": reply in accepted,
            "token_f1": max(token_f1(reply, one) for one in accepted),
        },
        "metadata": {"reply": reply, "accepted": accepted},
    }


def normalised(text: str) -> str:
    """Return a text without case, punctuation, articles, thousands separators and extra spaces."""
    text = _THOUSANDS.sub("", unicodedata.normalize("NFKC", text).casefold())
    kept = "".join(_kept(text, at) for at in range(len(text)))
    return " ".join((_ARTICLES.sub(" ", kept) if kept.strip() not in ("a", "an") else kept).split())


def _kept(text: str, at: int) -> str:
    """Return what becomes of one character: itself, a space, or nothing."""
    char = text[at]
    if not unicodedata.category(char).startswith("P") or char in _MEANT:
        return char
    before, after = text[at - 1 : at], text[at + 1 : at + 2]
    if after.isdigit() and ((char == "." and before.isdigit()) or (char == "-" and not before)):
        return char  # a decimal point, or the sign of a number that begins the text
    return "" if char in ".'\u2019" else " "


def token_f1(reply: str, answer: str) -> float:
    """Return the harmonic mean of the shares of words that two normalised texts have in common."""
    said, wanted = reply.split(), answer.split()
    if not said or not wanted:
        return float(said == wanted)
    shared = (Counter(said) & Counter(wanted)).total()
    return 2 * shared / (len(said) + len(wanted))
