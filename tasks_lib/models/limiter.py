"""How many calls of one model may be in flight, and how many may start a minute."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from types import TracebackType

WINDOW_SECONDS = 60.0


class Limiter:
    """Bounds the calls of one model; every user of the model in the process shares it.

    Waiters are served first come, first served, so no batch starves another. Use it as
    `async with limiter:` around one attempt of a call; waiting is not part of the
    attempt's time-out.

    Args:
        concurrency: calls in flight at most.
        per_minute: calls started in any 60 seconds at most; None is no limit.
        sleep: waits so many seconds; what it raises ends the waiting.
    """

    def __init__(
        self,
        concurrency: int,
        per_minute: int | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.concurrency = concurrency
        self.per_minute = per_minute
        self._slots = asyncio.Semaphore(concurrency)
        self._sleep = sleep
        self._started: deque[float] = deque()
        self._turn = asyncio.Lock()

    async def __aenter__(self) -> None:
        await self._slots.acquire()
        if self.per_minute is not None:
            try:
                await self._wait_for_window(self.per_minute)
            except BaseException:
                self._slots.release()
                raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._slots.release()

    async def _wait_for_window(self, per_minute: int) -> None:
        clock = asyncio.get_running_loop().time
        async with self._turn:  # one waiter at a time sleeps, the rest keep their order
            if len(self._started) == per_minute:
                free_at = self._started[0] + WINDOW_SECONDS
                while (left := free_at - clock()) > 0:
                    await self._sleep(left)
                self._started.popleft()
            self._started.append(clock())
