"""When the next call of an endpoint may begin."""

from math import inf

from tasks_lib.models.limits.shared import Number

MINUTE = 60.0
DECLARED_SLACK = 600  # a burst is a tenth of a second's worth: this part of a minute's
SLACK = 0.05  # seconds that a learnt rate may catch up after a delay


class Pace:
    """Spreads the beginnings of calls evenly, and lets none begin while the gate is closed.

    A rate limit of a minute is not spent at once: servers count by the second too. Never do
    more than `per_minute` calls begin in any 60 seconds.

    Args:
        numbers: what it knows, shared with others of the endpoint; all zero at first.
        per_minute: calls a minute at most; None is no limit.
    """

    _next = Number(0)
    closed_until = Number(1)
    _told_rate = Number(2)
    _told_until = Number(3)

    def __init__(self, numbers: "memoryview[float]", per_minute: int | None) -> None:
        self.numbers = numbers
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
        closed = self.closed_until - now
        if self._interval or rate < inf or now < self._told_until:
            return max(0.0, closed, self._next - now)
        return max(0.0, closed)

    def begin(self, rate: float, now: float) -> None:
        """Note that a call begins."""
        interval, slack = self._interval, self._slack
        if now < self._told_until:
            rate = min(rate, self._told_rate)
        if rate < inf and 1 / rate > interval:
            interval, slack = 1 / rate, SLACK
        if interval:
            self._next = max(self._next, now - slack) + interval

    def told(self, rate: float, until: float) -> None:
        """Keep to a rate that the server told, until then."""
        self._told_rate, self._told_until = rate, until

    def close(self, until: float) -> None:
        """Let no call begin before then."""
        self.closed_until = max(self.closed_until, until)
