"""Decides whether a reply names the right capital.

Looking for the name anywhere in the reply would also accept "Paris is not the capital" and
"San José de Asunción". So the reply's claim is taken first, what it says the capital *is*,
and this must be the name, case, accents and punctuation apart. A description that follows
("…, a city on the Seine") does not belong to the claim; a misspelt name is a wrong one.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Any

_IS = r"(?:\s+is\b|'s\b|:)"
_SAID_AFTER = re.compile(  # "The capital of France is Paris", "It's Paris"
    rf"\bcapital(?: city)?(?: of .{{1,60}}?)?{_IS}(?P<claim>.*)"
    rf"|^(?:(?:the )?(?:correct )?answer|it|that){_IS}(?P<short>.*)",
    re.IGNORECASE,
)
_SAID_BEFORE = re.compile(  # "Paris is the capital of France", "Paris, the capital of France, …"
    r"^(?P<claim>.{1,80}?)(?:,.{0,60}?|\s)(?:is|serves as) (?:the|its) capital\b"
    r"|^(?P<apposition>[^,.]{1,60}), the capital of (?:(?!\bis\b)[^,.]){1,60}[,.]",
    re.IGNORECASE,
)
_FILLER = re.compile(
    r"^(?:(?:indeed|also|now|currently|officially|known as|called|named|"
    r"the city of|the town of|the city|city of)\b[\s:]*)+",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(
    r"\s*(?:[.!?;:](?=\s|$)|,(?!\s*or\b)|\(|\n|\s[\u2013\u2014-]\s"
    r"|\b(?:which|located|situated|a city)\b)"
)
_END = re.compile(r"[.!?;:](?=\s|$)|\(|\n")
_ABBREVIATION = re.compile(r"\b(St|D\.C)\.", re.IGNORECASE)
_BARE_WORDS = 5  # a reply of at most so many words is taken as a name
_APOSTROPHES = frozenset({"Lm", "Pf", "Pi", "Sk"})  # categories of all but the ASCII one


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one reply.

    Scores: `is_correct`; `mentioned`, whether the name occurs anywhere in the reply;
    `outcome`, one of `right`, `wrong` (it claims another name) and `none` (it claims none).
    """
    reply = solver_output.trace.get_last_assistant_text() or ""
    accepted = [sample["capital"], *(sample["also_accepted"] or "").split("|")]
    names = {plain(name) for name in accepted if name}
    country = plain(sample["country"].removeprefix("the "))
    claim = claimed(reply)
    is_correct = claim is not None and plain(claim).removesuffix(f" {country}") in names
    outcome = "none" if claim is None else "right" if is_correct else "wrong"
    mentioned = any(f" {name} " in f" {plain(reply)} " for name in names)
    return {
        "scores": {"is_correct": is_correct, "mentioned": mentioned, "outcome": outcome},
        "metadata": {"claim": claim},
    }


def claimed(reply: str) -> str | None:
    """Return what the reply says the capital is; None when it says nothing of the kind."""
    text = reply.replace("*", "").replace("\u2019", "'").strip()
    text = _ABBREVIATION.sub(lambda found: found[1].replace(".", ""), text)
    found = _SAID_BEFORE.search(text) or _SAID_AFTER.search(text)
    if found is not None:
        claim = next(group for group in found.groups() if group is not None)
        end = _DESCRIPTION
    elif len(text.split()) <= _BARE_WORDS:
        claim, end = text, _END  # a comma here may part two names
    else:
        return None
    return end.split(_FILLER.sub("", claim.strip()), maxsplit=1)[0].strip() or None


def plain(name: str) -> str:
    """Return a name without case, accents and punctuation, words one space apart."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    kept = (
        letter
        for letter in letters
        if letter != "'"
        and not unicodedata.combining(letter)
        and unicodedata.category(letter) not in _APOSTROPHES
    )
    return " ".join("".join(c if c.isalnum() else " " for c in kept).split())
