"""Who may call an endpoint next: one queue for all callers of one model at one address."""

import asyncio
from collections import deque
from collections.abc import Callable
from math import inf
from types import TracebackType

from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.limits.pace import Pace
from tasks_lib.models.limits.quota import Quota
from tasks_lib.models.limits.shared import SIGN_OF_LIFE_SECONDS, SharedState
from tasks_lib.models.retries import MAX_RETRY_AFTER

OVERLOADED = frozenset({429, 503, 529})
LOW_WATER = 0.1  # share of the server's limit from which on its quota is spent evenly
HEED_SECONDS = 10.0  # how long what a server told counts
_LOOK_SECONDS = 0.25  # between looks whether the run goes on
_PEEK_SECONDS = 0.02  # between looks whether another process has made room

Place = tuple[int, float]
"""How many calls were in flight with one when it began, and when that was."""

_Waiter = asyncio.Future[Place]


def _go_on() -> None:
    """Let everyone wait."""


class Limiter:
    """Bounds the calls of one model; belongs to one event loop.

    Use it as `async with limiter.turn():` around one attempt of a call; waiting is not part
    of the attempt's time-out.

    Args:
        concurrency: calls in flight at most.
        per_minute: calls begun in any 60 seconds at most; None is no limit.
        check: called while calls wait for time to pass; what it raises ends their waiting.
        shared: what is known of the endpoint; None is nothing, and nobody to share it with.
        of_all: calls in flight at most of all users of `shared` together; None is no limit.
    """

    def __init__(
        self,
        concurrency: int,
        per_minute: int | None = None,
        check: Callable[[], None] = _go_on,
        shared: SharedState | None = None,
        of_all: int | None = None,
    ) -> None:
        self.concurrency = concurrency
        self.in_flight = 0
        self._loop = asyncio.get_running_loop()
        self._check = check
        self._of_all = of_all or inf
        self._shared = shared or SharedState(None, self._loop.time())
        self._pace = Pace(self._shared.numbers.pace, per_minute)
        self._congestion = self._shared.numbers.congestion
        self._again: deque[_Waiter] = deque()
        self._waiting: deque[_Waiter] = deque()
        self._look: asyncio.TimerHandle | None = None
        self._sign_of_life: asyncio.TimerHandle | None = None

    def turn(self, again: bool = False) -> "Turn":
        """Return a place in the queue, to be entered.

        Args:
            again: the call was tried before and goes first.
        """
        return Turn(self, again)

    def tighten(self, concurrency: int, per_minute: int | None, of_all: int | None) -> None:
        """Keep to these bounds too; they mean what those it was made with mean."""
        self.concurrency = min(self.concurrency, concurrency)
        self._of_all = min(self._of_all, of_all or inf)
        self._pace.limit(per_minute)

    def heed(self, quota: Quota) -> None:
        """Slow down before what is left of the server's quota is used up."""
        now = self._loop.time()
        seconds = min(quota.reset, HEED_SECONDS)
        low = max(2 * self.in_flight, LOW_WATER * (quota.limit or 0))
        with self._shared:
            if quota.remaining > low:
                self._pace.told(inf, 0.0)
            elif quota.rate > 0:
                self._pace.told(quota.rate, now + seconds)
            elif quota.reset <= MAX_RETRY_AFTER:
                self._pace.close(now + quota.reset)

    def close(self) -> None:
        """Let go of what is shared; no call may be waiting."""
        for timer in (self._look, self._sign_of_life):
            if timer is not None:
                timer.cancel()
        now = self._loop.time()
        self._shared.close(keep=self._congestion.rate(now) < inf or self._pace.is_closed(now))

    async def enter(self, again: bool) -> Place:
        """Wait for a place in flight and return it.

        Raises:
            Exception: what `check` raised.
        """
        waiter: _Waiter = self._loop.create_future()
        (self._again if again else self._waiting).append(waiter)
        with self._shared:
            self._admit(self._loop.time())
        try:
            return await waiter
        except asyncio.CancelledError as error:
            if waiter.done() and not waiter.cancelled() and waiter.exception() is None:
                self.leave(waiter.result(), error)
            raise

    def leave(self, place: Place, error: BaseException | None) -> None:
        """Free a place, and learn from how the call ended."""
        now = self._loop.time()
        self.in_flight -= 1
        with self._shared:
            if error is None:
                self._congestion.accepted(place[0], now)
            elif isinstance(error, CallFailure) and error.status in OVERLOADED:
                self._refused(place, error.retry_after or 0.0, now)
            self._admit(now)

    def _refused(self, place: Place, retry_after: float, now: float) -> None:
        in_flight, began = place
        left = self.in_flight + sum(theirs for theirs, _ in self._shared.others(now))
        self._congestion.refused(began, in_flight, left, now)
        if 0 < retry_after <= MAX_RETRY_AFTER and self._congestion.refuses_all(now):
            self._pace.close(now + retry_after)
            self._congestion.hold(now + retry_after)

    def _admit(self, now: float) -> None:
        """Let those go ahead who may, and come back when the next may; lock held."""
        wait = inf
        while (queue := self._next_queue()) is not None:
            wait, place = self._wait(now)
            if wait > 0:
                break
            self._begin(now)
            queue.popleft().set_result((place, now))
        self._tell(now)
        if self._look is not None:
            self._look.cancel()
            self._look = None
        if (self._again or self._waiting) and wait < inf:
            self._look = self._loop.call_later(min(wait, _LOOK_SECONDS), self._look_again)

    def _look_again(self) -> None:
        self._look = None
        try:
            self._check()
        except Exception as error:
            while (queue := self._next_queue()) is not None:
                queue.popleft().set_exception(error)
        with self._shared:
            self._admit(self._loop.time())

    def _next_queue(self) -> deque[_Waiter] | None:
        """The queue whose first goes next; drops those that gave up."""
        for queue in (self._again, self._waiting):
            while queue:
                if not queue[0].done():
                    return queue
                queue.popleft()
        return None

    def _begin(self, now: float) -> None:
        self.in_flight += 1
        self._congestion.counts.begin(now)
        self._pace.begin(self._congestion.rate(now), now)
        if self._sign_of_life is None:
            self._live_on()

    def _tell(self, now: float) -> None:
        """Tell the others how things are here; needs no lock."""
        self._shared.tell(self.in_flight, len(self._again) + len(self._waiting), now)

    def _live_on(self) -> None:
        """Show the others from time to time that calls that take long are still in flight."""
        self._sign_of_life = None
        if self.in_flight:
            self._tell(self._loop.time())
            self._sign_of_life = self._loop.call_later(SIGN_OF_LIFE_SECONDS, self._live_on)

    def _wait(self, now: float) -> tuple[float, int]:
        """Seconds until the next call may begin, and its place among those in flight.

        The seconds are infinite when it is for one of our own calls to end.
        """
        if self.in_flight >= self.concurrency:
            return inf, 0
        if self._shared.unsettled:
            return _PEEK_SECONDS, 0
        others = self._shared.others(now)
        place = self.in_flight + 1 + sum(in_flight for in_flight, _ in others)
        cap = min(self._of_all, self._congestion.concurrency(now))
        if cap < inf and not self._has_room(int(cap), place, others):
            return _PEEK_SECONDS, 0
        return self._pace.wait(self._congestion.rate(now), now), place

    def _has_room(self, cap: int, place: int, others: list[tuple[int, int]]) -> bool:
        """Whether one more call fits under the machine's bound, and into our share of it.

        Each gets what it wants as far as that is no more than an equal share; what some leave
        is for the others.
        """
        equal = max(1, cap // (len(others) + 1))
        left = cap - sum(min(in_flight + waiting, equal) for in_flight, waiting in others)
        return place <= cap and self.in_flight < max(1, left)


class Turn:
    """One attempt of a call: from its place in the queue to what came of it."""

    __slots__ = ("_again", "_limiter", "_place")

    def __init__(self, limiter: Limiter, again: bool) -> None:
        self._limiter = limiter
        self._again = again
        self._place: Place = (0, 0.0)

    async def __aenter__(self) -> None:
        self._place = await self._limiter.enter(self._again)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._limiter.leave(self._place, error)
