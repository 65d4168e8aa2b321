"""Many callers of an endpoint with limits they don't know, on a clock that skips waits."""

import asyncio
import random
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.limits.limiter import Limiter
from tasks_lib.models.limits.shared import SharedState
from tasks_lib.models.retries import next_delay
from tests.models.clock import run_skipping, skipping_loop


@dataclass
class Endpoint:
    """Refuses calls beyond so many in any second, or at a time; 0 is no limit.

    Attributes:
        latency: seconds that an accepted call takes.
        faults: share of calls refused for no reason.
    """

    per_second: int = 0
    at_a_time: int = 0
    latency: float = 0.1
    faults: float = 0.0
    answered: list[float] = field(default_factory=list)
    refused: list[float] = field(default_factory=list)
    _taken: deque[float] = field(default_factory=deque)
    _inside: int = 0
    _random: random.Random = field(default_factory=lambda: random.Random(7))

    def rate(self, until: float, seconds: float = 5.0) -> float:
        """Calls answered a second before `until`."""
        return sum(until - seconds < moment <= until for moment in self.answered) / seconds

    async def call(self) -> None:
        await asyncio.sleep(self._random.uniform(0, 0.005))  # nothing arrives in order
        now = skipping_loop().time()
        while self._taken and self._taken[0] <= now - 1:
            self._taken.popleft()
        if (
            0 < self.per_second <= len(self._taken)
            or 0 < self.at_a_time <= self._inside
            or self._random.random() < self.faults
        ):
            self.refused.append(now)
            raise CallFailure("infra", "no", retryable=True, retry_after=1.0, status=429)
        self._taken.append(now)
        self._inside += 1
        await asyncio.sleep(self.latency)
        self._inside -= 1
        self.answered.append(now)


@dataclass
class Crowd:
    """Users of an endpoint, each with a limiter of its own, and how they fared.

    Attributes:
        calls: in all.
        bound: calls at a time of each user.
        users: how many.
        folder: where they share what they learn.
        lifted_after: seconds after which the endpoint has no limits any more.
        lost: calls that were given up.
    """

    endpoint: Endpoint
    calls: int
    bound: int
    users: int = 1
    folder: Path | None = None
    lifted_after: float | None = None
    lost: int = 0
    began: float = 0.0
    ended: float = 0.0

    def run(self) -> "Crowd":
        run_skipping(self._main())
        return self

    def answered_a_second(self, after: float = 0.0) -> float:
        return self._counted(self.endpoint.answered, after) / (self.ended - self.began - after)

    def share_refused(self, after: float = 0.0) -> float:
        refused = self._counted(self.endpoint.refused, after)
        return refused / (refused + self._counted(self.endpoint.answered, after))

    def _counted(self, moments: list[float], after: float) -> int:
        return sum(moment > self.began + after for moment in moments)

    async def _main(self) -> None:
        loop = skipping_loop()
        self.began = loop.time()
        if self.lifted_after is not None:
            loop.call_later(self.lifted_after, self._lift)
        limiters = [
            Limiter(self.bound, shared=SharedState(self.folder, loop.time()))
            for _ in range(self.users)
        ]
        left = iter(range(self.calls))

        async def work(limiter: Limiter) -> None:
            for _ in left:
                await self._ask(limiter)

        await asyncio.gather(*(work(lim) for lim in limiters for _ in range(self.bound + 5)))
        self.ended = loop.time()
        for limiter in limiters:
            assert limiter.in_flight == 0
            limiter.close()

    async def _ask(self, limiter: Limiter) -> None:
        attempt = 0
        while True:
            attempt += 1
            try:
                async with limiter.turn(again=attempt > 1):
                    await self.endpoint.call()
                return
            except CallFailure as failure:
                delay = next_delay(failure, attempt, self.endpoint._random)
            if delay is None:
                self.lost += 1
                return
            await asyncio.sleep(delay)

    def _lift(self) -> None:
        self.endpoint.per_second = self.endpoint.at_a_time = 0
