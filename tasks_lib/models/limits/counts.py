"""How many calls began lately, and how many of them were refused."""

SLOT_SECONDS = 0.1
SLOTS = 176
SPANS = (1.0, 4.0, 16.0)  # seconds looked back
ENOUGH = 10  # calls from which a span says enough


class Counts:
    """Counts in slots of a tenth of a second, by the time when calls began.

    Args:
        numbers: three for each slot: its number in time, calls begun, calls refused.
    """

    def __init__(self, numbers: "memoryview[float]") -> None:
        self._numbers = numbers

    def begin(self, now: float) -> None:
        """Count a call that begins now."""
        slot = now // SLOT_SECONDS
        at = int(slot) % SLOTS * 3
        numbers = self._numbers
        if numbers[at] != slot:
            numbers[at], numbers[at + 1], numbers[at + 2] = slot, 0.0, 0.0
        numbers[at + 1] += 1.0

    def refuse(self, began: float) -> None:
        """Count that a call that began then was refused."""
        slot = began // SLOT_SECONDS
        at = int(slot) % SLOTS * 3
        if self._numbers[at] == slot:
            self._numbers[at + 2] += 1.0

    def lately(self, now: float) -> tuple[float, float]:
        """Return (calls, refused calls) of the shortest span that had enough calls."""
        calls, refused, _ = self._looked_back(now)
        return calls, refused

    def rate(self, now: float) -> float:
        """Return how many calls a second were accepted before `now`, as far as is known yet."""
        calls, refused, seconds = self._looked_back(now)
        return (calls - refused) / seconds

    def age(self, now: float) -> float:
        """Return the seconds since the first call in the longest span."""
        return self._sums(now, SPANS[-1])[2]

    def _looked_back(self, now: float) -> tuple[float, float, float]:
        """Calls, refused calls, and the seconds they are of, at least one."""
        for span in SPANS:
            calls, refused, age = self._sums(now, span)
            if calls >= ENOUGH:
                break
        return calls, refused, span if age > 0.9 * span else max(1.0, age)

    def _sums(self, now: float, seconds: float) -> tuple[float, float, float]:
        """Calls and refused calls of the seconds before now, and how long ago the first began.

        Of the oldest slot the share counts that lies inside.
        """
        calls = refused = 0.0
        first, oldest = (now - seconds) / SLOT_SECONDS, now
        for at in range(0, SLOTS * 3, 3):
            slot, begun, bad = self._numbers[at : at + 3]
            share = min(1.0, slot + 1 - first)
            if share <= 0 or not begun or slot * SLOT_SECONDS > now:
                continue
            calls += share * begun
            refused += share * bad
            oldest = min(oldest, slot * SLOT_SECONDS)
        return calls, refused, min(seconds, now - oldest)
