"""The lists that the judge of claims is asked for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks_lib.errors import bounded
from tasks_lib.scorers.judging.kinds import UnreadableError
from tasks_lib.scorers.rag.claims import Claim, claim_of


class _InJsonOnly:
    """A kind of answer that no plain text can give."""

    limited = False

    def of_text(self, text: str) -> None:
        return None

    def of_cut_text(self, text: str) -> None:
        return None


class Claims(_InJsonOnly):
    """A list of claims, maybe empty."""

    key = "claims"

    def of_json(self, value: Any) -> list[Claim]:
        entries = value if isinstance(value, list) else [value]
        claims = [claim for entry in entries if (claim := claim_of(entry)) is not None]
        if len(claims) != len(entries):
            raise UnreadableError("its 'claims' are not all triples")
        return claims


@dataclass(frozen=True, slots=True)
class PerClaim(_InJsonOnly):
    """One mark for each of some numbered claims.

    Attributes:
        key: of the list in the judge's JSON object.
        name: of the mark in each of its entries, beside the claim's number, `claim`.
        marks: what may be said of a claim -> whether that marks it.
        count: how many claims there are.
    """

    key: str
    name: str
    marks: Mapping[str, bool]
    count: int

    def of_json(self, value: Any) -> list[bool]:
        found: dict[int, bool] = {}
        for entry in value if isinstance(value, list) else ():
            number, mark = self._read(entry)
            if found.setdefault(number, mark) is not mark:
                raise UnreadableError(f"it says two things of claim {number}")
        if found.keys() != set(range(1, self.count + 1)):
            raise UnreadableError(
                f"it says something of {len(found)} claims, not of claims 1 to {self.count}"
            )
        return [found[number] for number in range(1, self.count + 1)]

    def _read(self, entry: Any) -> tuple[int, bool]:
        if isinstance(entry, dict):
            number = str(entry.get("claim")).strip()
            mark = self.marks.get(str(entry.get(self.name)).strip().lower())
            if number.isdecimal() and mark is not None:
                return int(number), mark
        raise UnreadableError(f"it says {bounded(repr(entry), 80)} of a claim")


def entailed(count: int) -> PerClaim:
    """Return the kind of answer that says which of `count` claims a text entails."""
    return PerClaim("verdicts", "entailed", {"true": True, "false": False}, count)


def required(count: int) -> PerClaim:
    """Return the kind of answer that says which of `count` claims are required."""
    return PerClaim("labels", "label", {"required": True, "optional": False}, count)
