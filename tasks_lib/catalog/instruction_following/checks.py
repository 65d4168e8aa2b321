"""Checks that a reply keeps to instructions.

Each check is a function of the reply and of the fields that stand beside its name in the
dataset. A new check is a function here and an entry of `CHECKS`. A check that is unknown, or
has a field it should not have, makes an error of the row and not a wrong answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

_CHECKS_COLUMN = "<< config.checks_column >>"
_WORD = re.compile(r"\w+(?:[-'\u2019.]\w+)*")
_SENTENCE_END = re.compile(r"[.!?]+[\"'\u201d\u2019)]*(?=\s|$)")
_BULLET = re.compile(r"^\s*(?:[-*\u2022]|\d+[.)])\s+\S", re.MULTILINE)
_FENCE = re.compile(r"```(?:json)?\s*\n(?P<inside>.*)\n```", re.DOTALL)
_PLACEHOLDER = re.compile(r"\[[^\[\]\n]+\]")


def compute_scores(sample: dict[str, Any], solver_output: Any) -> dict[str, Any]:
    """Score one reply.

    Scores: `all_kept` and `share_kept` of the instructions; `all_kept_loosely`, whether all
    would be kept without asterisks, or without a first or a last line around the answer.
    """
    reply = solver_output.trace.get_last_assistant_text() or ""
    checks = sample[_CHECKS_COLUMN]
    checks = json.loads(checks) if isinstance(checks, str) else checks
    if not checks:
        raise ValueError(f"there is nothing to check in column '{_CHECKS_COLUMN}'")
    kept = [keeps(reply, check) for check in checks]
    loosely = any(all(keeps(text, check) for check in checks) for text in variants(reply))
    return {
        "scores": {
            "all_kept": all(kept),
            "all_kept_loosely": loosely,
            "share_kept": sum(kept) / len(kept),
        },
        "metadata": {
            "checks": [
                {**check, "kept": is_kept} for check, is_kept in zip(checks, kept, strict=True)
            ]
        },
    }


def keeps(reply: str, check: dict[str, Any]) -> bool:
    """Return whether a reply passes a check: `{"check": NAME, FIELD: VALUE, …}`."""
    fields = dict(check)
    name = fields.pop("check", None)
    if name not in CHECKS:
        raise ValueError(f"there is no check '{name}'; there are: {', '.join(sorted(CHECKS))}")
    return CHECKS[name](reply.strip(), **fields) and bool(reply.strip())


def variants(reply: str) -> Iterator[str]:
    """Yield a reply with and without its emphasis, its first line and its last line."""
    for text in (reply, reply.replace("*", "")):
        lines = text.strip().split("\n")
        for first, last in ((0, 0), (1, 0), (0, 1), (1, 1)):
            yield "\n".join(lines[first : len(lines) - last]).strip()


def words(reply: str, at_least: int = 0, at_most: int | None = None) -> bool:
    """So many words; `it's`, `e-mail` and `3.5` are one each."""
    return _within(len(_WORD.findall(reply)), at_least, at_most)


def sentences(reply: str, at_least: int = 0, at_most: int | None = None) -> bool:
    """So many sentences, counted by their ends; text after the last end is one more."""
    ends = list(_SENTENCE_END.finditer(reply))
    rest = reply[ends[-1].end() :] if ends else reply
    return _within(len(ends) + bool(_WORD.search(rest)), at_least, at_most)


def paragraphs(reply: str, at_least: int = 0, at_most: int | None = None) -> bool:
    """So many paragraphs, parted by blank lines."""
    return _within(len(re.split(r"\n\s*\n", reply)), at_least, at_most)


def bullets(reply: str, at_least: int = 0, at_most: int | None = None) -> bool:
    """So many lines that begin with `-`, `*`, a bullet, `1.` or `1)`."""
    return _within(len(_BULLET.findall(reply)), at_least, at_most)


def contains(reply: str, words: list[str], at_least: int = 1, at_most: int | None = None) -> bool:
    """Each of the words or phrases, so many times; case does not matter."""
    return all(_within(_count(reply, word), at_least, at_most) for word in words)


def avoids(reply: str, words: list[str]) -> bool:
    """None of the words or phrases; case does not matter."""
    return not any(_count(reply, word) for word in words)


def without(reply: str, characters: str) -> bool:
    """None of the characters anywhere, such as `,`."""
    return not any(character in reply for character in characters)


def starts_with(reply: str, text: str) -> bool:
    """The reply begins with the text, case kept."""
    return reply.startswith(text)


def ends_with(reply: str, text: str) -> bool:
    """The reply ends with the text, case kept."""
    return reply.endswith(text)


def is_json(reply: str, keys: list[str] | None = None) -> bool:
    """JSON and nothing else, a code fence apart; with `keys`, an object with just these."""
    fenced = _FENCE.fullmatch(reply)
    try:
        value = json.loads(fenced["inside"] if fenced else reply)
    except ValueError:
        return False
    return keys is None or (isinstance(value, dict) and value.keys() == set(keys))


def lower_case(reply: str) -> bool:
    """No capital letter."""
    return reply == reply.lower()


def upper_case(reply: str) -> bool:
    """No small letter."""
    return reply == reply.upper()


def quoted(reply: str) -> bool:
    """All of it in one pair of double quotation marks."""
    return len(reply) > 1 and (reply[0], reply[-1]) in (('"', '"'), ("\u201c", "\u201d"))


def placeholders(reply: str, at_least: int = 1, at_most: int | None = None) -> bool:
    """So many places to fill in, in square brackets, such as `[name]`."""
    return _within(len(_PLACEHOLDER.findall(reply)), at_least, at_most)


def matches(reply: str, pattern: str) -> bool:
    """All of the reply matches a regular expression, in which `.` also matches line ends."""
    return re.fullmatch(pattern, reply, re.DOTALL) is not None


CHECKS: dict[str, Callable[..., bool]] = {
    "words": words,
    "sentences": sentences,
    "paragraphs": paragraphs,
    "bullets": bullets,
    "contains": contains,
    "avoids": avoids,
    "without": without,
    "starts_with": starts_with,
    "ends_with": ends_with,
    "json": is_json,
    "lower_case": lower_case,
    "upper_case": upper_case,
    "quoted": quoted,
    "placeholders": placeholders,
    "matches": matches,
}


def _within(count: int, at_least: int, at_most: int | None) -> bool:
    return at_least <= count and (at_most is None or count <= at_most)


def _count(reply: str, word: str) -> int:
    """Return how often a word or phrase occurs that is no part of a longer word."""
    return len(re.findall(rf"(?<!\w){re.escape(word)}(?!\w)", reply, re.IGNORECASE))
