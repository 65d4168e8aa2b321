"""How many calls of each model a sample takes, as far as the definition tells."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CallRange:
    """How many calls there are.

    Attributes:
        least: calls at least, unless the sample fails on the way.
        most: calls at most; None when nothing bounds them.
    """

    least: int
    most: int | None

    def __add__(self, other: "CallRange") -> "CallRange":
        most = None if self.most is None or other.most is None else self.most + other.most
        return CallRange(self.least + other.least, most)

    def times(self, least: int, most: int) -> "CallRange":
        """Return the calls of between `least` and `most` repetitions."""
        return CallRange(self.least * least, None if self.most is None else self.most * most)


NO_CALLS = CallRange(0, 0)
ONE_CALL = CallRange(1, 1)

CallRanges = Mapping[str, CallRange]
"""By the key of the model that is called."""


def summed(parts: Iterable[CallRanges]) -> dict[str, CallRange]:
    """Return the calls of all parts together."""
    total: dict[str, CallRange] = {}
    for part in parts:
        for key, calls in part.items():
            total[key] = total.get(key, NO_CALLS) + calls
    return total
