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

from ctypes import Structure
from math import inf

from tasks_lib.models.limits.counts import SPANS, Counts
from tasks_lib.models.limits.memory import laid_out

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


@laid_out
class Estimate(Structure):
    """A level that was cut once it was too much, and grows again.

    Attributes:
        cut_at: when; 0 for never.
        base: what it was cut to.
        ceiling: what it soon comes near to again.
    """

    cut_at: float
    base: float
    ceiling: float

    def level(self, now: float, held_until: float) -> float:
        """Return how much it is now, infinity while nothing is known, or not any more."""
        if not self.cut_at:
            return inf
        seconds = self.seconds(now, held_until)
        if seconds < RECOVERY:
            short = (1 - max(0.0, seconds) / RECOVERY) ** 3
            return self.ceiling - (self.ceiling - self.base) * short
        level = self.ceiling * (1 + ((seconds - RECOVERY) / DOUBLING) ** 3)
        return level if level < FORGET * self.ceiling else inf

    def seconds(self, now: float, held_until: float) -> float:
        """Return for how long it has grown, which a pause interrupts."""
        return now - max(self.cut_at, held_until)


@laid_out
class Congestion(Structure):
    """What one endpoint takes, and what that is reckoned from; all zero at first.

    Attributes:
        counts: of the calls begun lately.
    """

    counts: Counts
    _rate: Estimate
    _width: Estimate  # how many calls at a time
    _level: float  # of accepted calls a second, from which the last cut was reckoned
    _peak: float  # the highest such level of this episode
    _proven: float  # the most calls at a time of which the last was accepted lately
    _proven_since: float
    _proven_before: float
    _in_a_row: float  # refusals, without an accepted call between them
    _held_until: float

    def rate(self, now: float) -> float:
        """Return how many calls a second are taken, infinity while nothing is known."""
        return self._rate.level(now, self._held_until)

    def concurrency(self, now: float) -> float:
        """Return how many calls at a time are taken, infinity while nothing is known."""
        width, held_until = self._width, self._held_until
        past_ceiling = max(0.0, width.seconds(now, held_until) - RECOVERY)
        return width.level(now, held_until) + WIDENING * past_ceiling

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
        self.counts.refuse(began)
        if began <= self._rate.cut_at:
            self._correct(now)
            return
        if began < self._rate.cut_at + SETTLING:
            return
        calls, refusals = self.counts.lately(now)
        usual = TOLERATED * calls
        if calls < MIN_CALLS or refusals < max(MIN_REFUSALS, usual + usual**0.5):
            return
        if refusals <= SEVERE * calls and self.counts.age(now) < YOUNG:
            return  # of a second that has just begun nobody knows how many calls it takes
        self._cut_rate(refusals / calls, now)
        if place > max(self._proven, self._proven_before):
            self._narrow_to(min(in_flight, self.concurrency(now)))
            self._width.cut_at = now

    def refuses_all(self, now: float) -> bool:
        """Whether refusals are everybody's, not a few calls' that were singled out."""
        calls, refusals = self.counts.lately(now)
        return self._in_a_row >= MIN_REFUSALS and refusals > SEVERE * calls

    def hold(self, until: float) -> None:
        """Let nothing grow until then."""
        self._held_until = max(self._held_until, until)

    def _cut_rate(self, share: float, now: float) -> None:
        before = self.rate(now)
        level = max(LEAST_RATE, min(before, self.counts.rate(now)))
        fresh = before == inf or now - self._rate.cut_at > RECOVERY + DOUBLING
        self._peak = level if fresh or share > SEVERE else max(level, self._peak)
        self._rate.cut_at = now
        self._set_rate(level)

    def _set_rate(self, level: float) -> None:
        self._level = level
        self._rate.base = max(RATE_CUT * level, FLOOR * self._peak)
        self._rate.ceiling = max(CEILING * level, self._rate.base)

    def _narrow_to(self, ceiling: float) -> None:
        self._width.ceiling = max(1.0, ceiling)
        self._width.base = max(1.0, CONCURRENCY_CUT * self._width.ceiling)

    def _correct(self, now: float) -> None:
        """Reckon the last cut anew: more of the calls before it have turned out refused."""
        cut_at = self._rate.cut_at
        if now - cut_at > SPANS[0]:
            return  # they are not counted any more
        level = max(LEAST_RATE, self.counts.rate(cut_at))
        if level < self._level:
            if self._peak == self._level:
                self._peak = level
            self._set_rate(level)
        if self._width.cut_at == cut_at:
            self._narrow_to(self._width.ceiling - 1)
