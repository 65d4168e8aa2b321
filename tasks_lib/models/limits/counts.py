"""How many calls began lately, and how many of them were refused."""

from ctypes import Array, Structure

from tasks_lib.models.limits.memory import laid_out

SLOT_SECONDS = 0.1
SLOTS = 176
SPANS = (1.0, 4.0, 16.0)  # seconds looked back
ENOUGH = 10  # calls from which a span says enough


@laid_out
class _Slot(Structure):
    """A tenth of a second: its number in time, calls begun in it, and those of them refused."""

    number: float
    begun: float
    refused: float


class Counts(Structure):
    """Counts in slots of a tenth of a second, by the time when calls began."""

    _slots: "Array[_Slot]"
    _fields_ = (("_slots", _Slot * SLOTS),)

    def begin(self, now: float) -> None:
        """Count a call that begins now."""
        number = now // SLOT_SECONDS
        slot = self._slots[int(number) % SLOTS]
        if slot.number != number:
            slot.number, slot.begun, slot.refused = number, 0.0, 0.0
        slot.begun += 1.0

    def refuse(self, began: float) -> None:
        """Count that a call that began then was refused."""
        number = began // SLOT_SECONDS
        slot = self._slots[int(number) % SLOTS]
        if slot.number == number:
            slot.refused += 1.0

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
        for slot in self._slots:
            number = slot.number
            share = min(1.0, number + 1 - first)
            if share <= 0 or not slot.begun or number * SLOT_SECONDS > now:
                continue
            calls += share * slot.begun
            refused += share * slot.refused
            oldest = min(oldest, number * SLOT_SECONDS)
        return calls, refused, min(seconds, now - oldest)
