"""What a judge may be asked for, and what counts as an answer to it."""

import json
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Protocol

from tasks_lib.errors import bounded
from tasks_lib.scorers.judging.text import bare

_NUMBER = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))"
    r"(?:\s*(?:/|out of)\s*(?P<end>[0-9]+(?:\.[0-9]+)?))?"
)
_LONGEST_FREE_LABEL = 60
_MOST_WORDS_OF_FREE_LABEL = 5


class UnreadableError(ValueError):
    """A reply holds no verdict, several, or one that is not allowed; says which."""


class Kind(Protocol):
    """A kind of answer that a reply may give."""

    @property
    def key(self) -> str:
        """Key of the answer in the judge's JSON object."""

    @property
    def limited(self) -> bool:
        """Whether answers are few enough to be told from the other lines of a text."""

    def of_json(self, value: Any) -> Any:
        """Return the answer that a JSON value gives.

        Raises:
            UnreadableError: it gives none that is allowed.
        """

    def of_text(self, text: str) -> Any:
        """Return the answer that a text is, markup apart; None when it is none.

        Raises:
            UnreadableError: it is one that is not allowed.
        """

    def of_cut_text(self, text: str) -> Any:
        """Return the answer that a text is though it was cut off; None when more may follow."""


class Wanted(Kind, Protocol):
    """A kind of answer that any judge can be asked for, whatever it judges."""

    @property
    def request(self) -> str:
        """What the answer is, in the words of an instruction."""

    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of the answer alone."""


@dataclass(frozen=True)
class Labels:
    """One of some labels, or any label when none is listed.

    A label is recognised exactly, else by its letters in either case where that leaves one.

    Attributes:
        key: of the label in the judge's JSON object.
        allowed: the labels; their order says nothing.
    """

    key: str
    allowed: tuple[str, ...]

    @property
    def request(self) -> str:
        if not self.allowed:
            return "the label, a string"
        quoted = (json.dumps(label, ensure_ascii=False) for label in self.allowed)
        return "one of these strings: " + ", ".join(quoted)

    @property
    def schema(self) -> dict[str, Any]:
        limited = {"enum": list(self.allowed)} if self.allowed else {}
        return {"type": "string", **limited}

    @property
    def limited(self) -> bool:
        return bool(self.allowed)

    def of_json(self, value: Any) -> str:
        if isinstance(value, bool | int | float):
            value = json.dumps(value)
        if not isinstance(value, str) or not value.strip():
            raise UnreadableError(f"its '{self.key}' is {bounded(json.dumps(value), 80)}")
        label = self._known(value) if self.allowed else value.strip()
        if label is None:
            said = bounded(repr(value), 80)
            raise UnreadableError(f"its '{self.key}' is {said}, which is none of the labels")
        return label

    def of_text(self, text: str) -> str | None:
        return self._known(text) if self.allowed else _free_label(text)

    def of_cut_text(self, text: str) -> str | None:
        label = self._known(text)
        longer = [known for known in self._by_letters if known.startswith(_letters(label or ""))]
        return label if len(longer) == 1 else None

    def _known(self, text: str) -> str | None:
        forms = (text.strip(), bare(text))
        for form in forms:
            if form in self._exact:
                return self._exact[form]
        for form in forms:
            alike = self._by_letters.get(_letters(form), ())
            if len(alike) == 1:
                return alike[0]
        return None

    @cached_property
    def _exact(self) -> dict[str, str]:
        return {label.strip(): label for label in self.allowed}

    @cached_property
    def _by_letters(self) -> dict[str, list[str]]:
        alike = defaultdict(list)
        for label in self.allowed:
            alike[_letters(label)].append(label)
        return dict(alike)


@lru_cache(maxsize=1024)
def labels(key: str, allowed: tuple[str, ...]) -> Labels:
    """Return the kind of answer that these labels are; equal calls share one."""
    return Labels(key, allowed)


def _letters(text: str) -> str:
    return " ".join(text.casefold().split())


def _free_label(text: str) -> str | None:
    """Return a text that looks like a label, and not like a sentence."""
    label = bare(text)
    words = len(label.split())
    is_sentence = words > 1 and text.rstrip()[-1:] in ".!?"
    is_short = 0 < len(label) <= _LONGEST_FREE_LABEL and words <= _MOST_WORDS_OF_FREE_LABEL
    return label if is_short and not is_sentence and ":" not in label else None


@dataclass(frozen=True)
class Scale:
    """A number on a scale, both ends included.

    Attributes:
        low: the least number.
        high: the greatest.
        key: of the number in the judge's JSON object.
    """

    low: float
    high: float
    key: str = "score"

    @property
    def request(self) -> str:
        return f"a number from {_shown(self.low)} to {_shown(self.high)}"

    @property
    def schema(self) -> dict[str, Any]:
        # Limits only in words: strict modes of several providers refuse `minimum`.
        return {"type": "number", "description": self.request[0].upper() + self.request[1:]}

    @property
    def limited(self) -> bool:
        return True

    def of_json(self, value: Any) -> float:
        if isinstance(value, str) and (number := self.of_text(value)) is not None:
            return number
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise UnreadableError(f"its '{self.key}' is {bounded(json.dumps(value), 80)}")
        return self._on_scale(value)

    def of_text(self, text: str) -> float | None:
        match = _NUMBER.fullmatch(bare(text))
        if match is None or (match["end"] and float(match["end"]) != self.high):
            return None
        return self._on_scale(float(match["number"]))

    def of_cut_text(self, text: str) -> float | None:
        return None

    def share(self, number: float) -> float:
        """Return where on the scale a number lies, from 0 at its low end to 1 at its high end."""
        return (number - self.low) / (self.high - self.low)

    def _on_scale(self, number: float) -> float:
        if not self.low <= number <= self.high:
            said = bounded(_shown(number), 40)
            raise UnreadableError(
                f"the score {said} is outside {_shown(self.low)} to {_shown(self.high)}"
            )
        return float(number)


def _shown(number: float) -> str:
    return str(number).removesuffix(".0")
