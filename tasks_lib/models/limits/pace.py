"""When the next call of an endpoint may begin."""

from ctypes import Structure
from math import inf

from tasks_lib.models.limits.memory import laid_out

MINUTE = 60.0
DECLARED_SLACK = 600  # a burst is a tenth of a second's worth: this part of a minute's
SLACK = 0.05  # seconds that a learnt rate may catch up after a delay


@laid_out
class SharedPace(Structure):
    """What all users of an endpoint know of its pace; all zero at first.

    Attributes:
        next_at: when the next call may begin, if any rate is to be kept to.
        closed_until: no call may begin before.
        told_rate: calls a second that the server told to keep to, until `told_until`.
    """

    next_at: float
    closed_until: float
    told_rate: float
    told_until: float


class Pace:
    """Spreads the beginnings of calls evenly, and lets none begin while the gate is closed.

    A rate limit of a minute is not spent at once: servers count by the second too. Never do
    more than `per_minute` calls begin in any 60 seconds.

    Args:
        shared: what others of the endpoint know too.
        per_minute: calls a minute at most; None is no limit.
    """

    def __init__(self, shared: SharedPace, per_minute: int | None) -> None:
        self._shared = shared
        self._interval = self._slack = 0.0
        self.limit(per_minute)

    def limit(self, per_minute: int | None) -> None:
        """Keep to so many calls a minute too."""
        if per_minute is None:
            return
        burst = max(1, per_minute // DECLARED_SLACK)
        interval = MINUTE / (per_minute - burst + 1)
        if interval > self._interval:
            self._interval, self._slack = interval, (burst - 1) * interval

    def wait(self, rate: float, now: float) -> float:
        """Return the seconds until a call may begin.

        Args:
            rate: calls a second at most, as learnt; infinity is no limit.
            now: the clock's time.
        """
        shared = self._shared
        limited = self._interval or rate < inf or now < shared.told_until
        return max(0.0, shared.closed_until - now, shared.next_at - now if limited else 0.0)

    def begin(self, rate: float, now: float) -> None:
        """Note that a call begins."""
        interval, slack, shared = self._interval, self._slack, self._shared
        if now < shared.told_until:
            rate = min(rate, shared.told_rate)
        if rate < inf and 1 / rate > interval:
            interval, slack = 1 / rate, SLACK
        if interval:
            shared.next_at = max(shared.next_at, now - slack) + interval

    def told(self, rate: float, until: float) -> None:
        """Keep to a rate that the server told, until then."""
        self._shared.told_rate, self._shared.told_until = rate, until

    def close(self, until: float) -> None:
        """Let no call begin before then."""
        self._shared.closed_until = max(self._shared.closed_until, until)

    def is_closed(self, now: float) -> bool:
        """Whether no call may begin yet."""
        return now < self._shared.closed_until
