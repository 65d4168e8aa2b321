"""The one event loop of a process that does all model I/O, in a thread of its own."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class StalledError(Exception):
    """Nothing of a batch came to an end for too long.

    Args:
        seconds: how long.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(f"given up: nothing of its batch came to an end in {seconds:g} s")


class LoopThread:
    """An event loop running in a daemon thread; batches hand it coroutines and wait."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._closing = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._serve, name="evalmill-models", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> "Future[T]":
        """Start `coroutine` on the loop; the future can be waited for from any thread.

        Raises:
            RuntimeError: the loop is closed.
        """
        with self._lock:
            if not self._closing:
                return asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        coroutine.close()
        raise RuntimeError("the model loop is closed")

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run `coroutine` on the loop and return its result; blocks the calling thread.

        Raises:
            RuntimeError: the loop is closed, or this is its own thread, which would wait for
                itself.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("the model loop can't wait for itself")
        return self.submit(coroutine).result()

    def close(self) -> None:
        """Cancel what still runs and stop the thread; may be called twice."""
        with self._lock:  # what was submitted before is cancelled, and nothing comes after
            if self._closing:
                return
            self._closing = True
        asyncio.run_coroutine_threadsafe(_cancel_others(), self.loop).result(timeout=10)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=10)
        self.loop.close()


STALL_SECONDS = 3600.0
"""Time in which something of a batch must come to an end, be it a call's attempt. The longest
silence in good order is a quarter of it: a request's timeout, and the wait a server may ask for."""


async def worked_off(
    items: Iterable[T],
    work: Callable[[T], Awaitable[None]],
    workers: int,
    alive: Callable[[], object] = lambda: None,
    patience: float = STALL_SECONDS,
) -> None:
    """Do `work` for every item, `workers` at a time, each taking the next when it is free.

    A few loops over one iterator cost a tenth of a gather over all items.

    Args:
        items: what to work on.
        work: done for each.
        workers: how many at a time.
        alive: returns something else whenever the work goes on, though no item has ended.
        patience: seconds without any sign of life after which the rest is given up.

    Raises:
        BaseException: the first that `work` raised; the other workers have ended by then.
        StalledError: the rest was given up.
    """
    left = iter(items)
    ended = 0

    async def take() -> None:
        nonlocal ended
        for item in left:
            await work(item)
            ended += 1

    tasks = [asyncio.ensure_future(take()) for _ in range(workers)]
    seen, waiting = (alive(), ended), set(tasks)
    try:
        while waiting:
            _, waiting = await asyncio.wait(waiting, timeout=patience)
            before, seen = seen, (alive(), ended)
            if waiting and seen == before:
                raise StalledError(patience)
    finally:
        for task in tasks:
            task.cancel()
        ends = await asyncio.gather(*tasks, return_exceptions=True)
    for end in ends:
        if isinstance(end, BaseException):
            raise end


async def _cancel_others() -> None:
    tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
