"""What refusals teach: how many calls an endpoint takes a second, and how many at a time.

Nothing is limited until the endpoint refuses (429, or 503 and 529 for overload) more than a
few stray calls. Then two estimates are cut and grow again by CUBIC's curve (RFC 9438): soon
back near the level that was too much, slowly past it, then ever faster, so that a limit is
hovered under rather than run into, and one that was lifted is noticed.

- The rate is cut to a little less than what was accepted in the second before, which for a
  server with a rate limit is the limit itself.
- The concurrency is cut only when a call was refused that would have been one more at a
  time than any accepted lately; else the calls in flight are not what the server minds.

A burst counts once: a refusal of a call that began before the last cut only corrects what
the cut was reckoned from, and the second after it says nothing.
"""

from math import inf

from tasks_lib.models.limits.counts import SPANS, Counts
from tasks_lib.models.limits.shared import Number

RATE_CUT = 0.92
CONCURRENCY_CUT = 0.8
CEILING = 0.98  # of what was accepted: estimates hover just below a limit, not on it
RECOVERY = 6.0  # seconds from a cut to the ceiling
DOUBLING = 10.0  # seconds from the ceiling to twice of it
WIDENING = 0.5  # calls at a time a second, past the ceiling: doubling two takes too long
FORGET = 4.0  # an estimate of so many ceilings limits nothing
TOLERATED = 0.04  # share of refusals that says nothing: a busy server's stray ones, a fault
MIN_REFUSALS, MIN_CALLS = 3, 10  # fewer say nothing either
SEVERE = 0.5  # share of refusals
FLOOR = 0.5  # of an episode's peak: refusals that no cut makes fewer don't stop everything
YOUNG = 0.8  # seconds since the first call
SETTLING = 1.0  # seconds that a server may remember what came before a cut
LEAST_RATE = 0.5  # calls a second
PROOF_HOLDS = 5.0  # seconds, up to twice of it, that an accepted concurrency proves itself


def grown(base: float, ceiling: float, seconds: float) -> float:
    """Return an estimate so many seconds after it was cut to `base`."""
    if seconds < RECOVERY:
        return ceiling - (ceiling - base) * (1 - max(0.0, seconds) / RECOVERY) ** 3
    return ceiling * (1 + ((seconds - RECOVERY) / DOUBLING) ** 3)


class Congestion:
    """The estimates of one endpoint.

    Args:
        numbers: where they are kept; all zero at first.
        counts: of the calls begun lately.
    """

    _in_a_row = Number(9)
    _cut_at = Number(0)
    _base = Number(1)
    _ceiling = Number(2)
    _peak = Number(3)
    _narrowed_at = Number(4)
    _narrow_base = Number(5)
    _narrow_ceiling = Number(6)
    _proven = Number(7)
    _proven_since = Number(8)
    _held_until = Number(10)
    _level = Number(11)
    _proven_before = Number(12)

    def __init__(self, numbers: "memoryview[float]", counts: Counts) -> None:
        self.numbers = numbers
        self._counts = counts

    def rate(self, now: float) -> float:
        """Return how many calls a second are taken, infinity while nothing is known."""
        return self._grown(self._cut_at, self._base, self._ceiling, now)

    def concurrency(self, now: float) -> float:
        """Return how many calls at a time are taken, infinity while nothing is known."""
        cut_at = self._narrowed_at
        estimate = self._grown(cut_at, self._narrow_base, self._narrow_ceiling, now)
        return estimate + max(0.0, self._seconds_since(cut_at, now) - RECOVERY) * WIDENING

    def _grown(self, cut_at: float, base: float, ceiling: float, now: float) -> float:
        if not cut_at:
            return inf
        estimate = grown(base, ceiling, self._seconds_since(cut_at, now))
        return estimate if estimate < FORGET * ceiling else inf

    def _seconds_since(self, cut_at: float, now: float) -> float:
        """Seconds of growing, which a pause interrupts."""
        return now - max(cut_at, self._held_until)

    def accepted(self, place: int, now: float) -> None:
        """Note that a call was answered that was the `place`-th at a time when it began."""
        if self._in_a_row:
            self._in_a_row = 0
        if now - self._proven_since > PROOF_HOLDS:
            self._proven_before, self._proven, self._proven_since = self._proven, place, now
        elif place > self._proven:
            self._proven = place

    def refused(self, began: float, place: int, in_flight: int, now: float) -> None:
        """Note that the call was refused that began then, as the `place`-th at a time.

        Args:
            began: when.
            place: how many calls were in flight with it then.
            in_flight: how many others are now.
            now: the clock's time.
        """
        self._in_a_row += 1
        self._counts.refuse(began)
        if began <= self._cut_at:
            self._correct(now)
            return
        if began < self._cut_at + SETTLING:
            return
        calls, refusals = self._counts.lately(now)
        usual = TOLERATED * calls
        if calls < MIN_CALLS or refusals < max(MIN_REFUSALS, usual + usual**0.5):
            return
        if refusals <= SEVERE * calls and self._counts.age(now) < YOUNG:
            return  # of a second that has just begun nobody knows how many calls it takes
        self._cut_rate(refusals / calls, now)
        if place > max(self._proven, self._proven_before):
            self._narrow_to(min(in_flight, self.concurrency(now)))
            self._narrowed_at = now

    def refuses_all(self, now: float) -> bool:
        """Whether refusals are everybody's, not a few calls' that were singled out."""
        calls, refusals = self._counts.lately(now)
        return self._in_a_row >= MIN_REFUSALS and refusals > SEVERE * calls

    def hold(self, until: float) -> None:
        """Let nothing grow until then."""
        self._held_until = max(self._held_until, until)

    def _cut_rate(self, share: float, now: float) -> None:
        before = self.rate(now)
        level = max(LEAST_RATE, min(before, self._counts.rate(now)))
        fresh = before == inf or now - self._cut_at > RECOVERY + DOUBLING
        self._peak = level if fresh or share > SEVERE else max(level, self._peak)
        self._cut_at = now
        self._set_rate(level)

    def _set_rate(self, level: float) -> None:
        self._level = level
        self._base = max(RATE_CUT * level, FLOOR * self._peak)
        self._ceiling = max(CEILING * level, self._base)

    def _narrow_to(self, ceiling: float) -> None:
        self._narrow_ceiling = max(1.0, ceiling)
        self._narrow_base = max(1.0, CONCURRENCY_CUT * self._narrow_ceiling)

    def _correct(self, now: float) -> None:
        """Reckon the last cut anew: more of the calls before it have turned out refused."""
        if now - self._cut_at > SPANS[0]:
            return  # they are not counted any more
        level = max(LEAST_RATE, self._counts.rate(self._cut_at))
        if level < self._level:
            if self._peak == self._level:
                self._peak = level
            self._set_rate(level)
        if self._narrowed_at == self._cut_at:
            self._narrow_to(self._narrow_ceiling - 1)
