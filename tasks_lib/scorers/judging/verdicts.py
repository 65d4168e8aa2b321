"""Reading a verdict out of a judge's reply.

A reply is read as the JSON object that was asked for: the whole of it, in a code fence, or
amid text, where no sentence runs on around it. An object at the very end wins; otherwise all
of them, and what the text after them says, must agree. Without one, an answer counts where it
stands alone: on the first or the last line, whole or at that line's end (`Verdict: correct`).
Two different answers, or none, make the reply unreadable. So does anything short of the end of
a reply that was cut off.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.jsontext import dumps
from tasks_lib.scorers.judging.kinds import Kind, UnreadableError
from tasks_lib.scorers.judging.text import bare, standing_alone, worded_lines

_THOUGHTS = re.compile(r"\s*<think(?:ing)?>(?P<closed>.*</think(?:ing)?>)?", re.DOTALL)
_SENTENCE_END = (".", ":", "\uff1a", "!", "?")
_FENCE = re.compile(r"`{3,}\w*")
_MOST_BRACES = 2_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says.

    Attributes:
        answer: the answer, of the type its kind gives.
        reasoning: the judge's reasons; None when it gave none apart.
        confidence: as the judge gave it, on no particular scale; None when it gave no number.
    """

    answer: Any
    reasoning: str | None = None
    confidence: float | None = None


def read_verdict(reply: str, kind: Kind, *, cut: bool = False) -> Verdict:
    """Return the verdict in a judge's reply.

    Args:
        reply: all that the judge said.
        kind: what it was asked for.
        cut: whether the reply was cut off, by a token limit or a filter.

    Raises:
        UnreadableError: there is no verdict, more than one, or none that is allowed.
    """
    text = _without_thoughts(reply)
    if not text.strip():
        raise UnreadableError("it is empty" if reply == text else "it holds thoughts alone")
    objects = list(_objects(text, kind.key))
    if objects and not bare(text[objects[-1].end :]):
        return _of_object(objects[-1], kind)
    if cut:
        return _of_cut_text(text, kind)
    verdicts = [_of_object(found, kind) for found in objects]
    rest = text[objects[-1].end :] if objects else text
    verdicts += [Verdict(answer) for answer in _on_edge_lines(rest, kind)]
    if not verdicts:
        raise UnreadableError("no verdict stands alone in it")
    if any(verdict.answer != verdicts[0].answer for verdict in verdicts):
        said = ", ".join(bounded(repr(verdict.answer), 60) for verdict in verdicts)
        raise UnreadableError(f"it says several things: {said}")
    return verdicts[0]


def _without_thoughts(reply: str) -> str:
    """Return what follows the thoughts some models put before their reply, if any do."""
    thoughts = _THOUGHTS.match(reply)
    if thoughts is None:
        return reply
    return reply[thoughts.end() :] if thoughts["closed"] else ""


@dataclass(frozen=True, slots=True)
class _Object:
    content: dict[str, Any]
    end: int


def _objects(text: str, key: str) -> Iterator[_Object]:
    """Yield the JSON objects in `text` that have `key` and are no part of a sentence."""
    end = 0
    for _ in range(_MOST_BRACES):
        start = text.find("{", end)
        if start < 0:
            return
        try:
            content, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            end = start + 1
            continue
        if key in content and _stands_alone(text, start, end):
            yield _Object(content, end)


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no sentence runs into the object or on after it, on its first and last line."""
    before = _FENCE.sub("", text[text.rfind("\n", 0, start) + 1 : start]).rstrip("*_`\"'([ \t")
    after = bare(text[end:].partition("\n")[0])
    return (not before or before.endswith(_SENTENCE_END)) and (not after or after[0].isupper())


def _unambiguous(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with its keys in lower case; saying two things at once is an error."""
    content: dict[str, Any] = {}
    for name, value in pairs:
        key = name.strip().lower()
        if key in content and content[key] != value:
            raise ValueError(f"'{name}' is said twice")
        content[key] = value
    return content


_DECODER = json.JSONDecoder(strict=False, object_pairs_hook=_unambiguous)


def _of_object(found: _Object, kind: Kind) -> Verdict:
    content = found.content
    reasoning = content.get("reasoning", content.get("reason"))
    if reasoning is not None and not isinstance(reasoning, str):
        reasoning = dumps(reasoning)
    return Verdict(kind.of_json(content[kind.key]), reasoning, _number(content.get("confidence")))


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if isfinite(number) else None


def _of_cut_text(text: str, kind: Kind) -> Verdict:
    answer = kind.of_cut_text(text)
    if answer is None:
        raise UnreadableError("it was cut off before the verdict")
    return Verdict(answer)


def _on_edge_lines(text: str, kind: Kind) -> list[Any]:
    """Return the answers that stand alone on the first and on the last line."""
    lines = worded_lines(text) or ([text] if kind.limited else [])  # a label may be "---"
    if len(lines) > 1:
        lines = [lines[0], lines[-1]] if kind.limited else []
    answers = []
    for line in lines:
        found = (kind.of_text(part) for part in standing_alone(line))
        answer = next((answer for answer in found if answer is not None), None)
        if answer is not None:
            answers.append(answer)
    return answers
