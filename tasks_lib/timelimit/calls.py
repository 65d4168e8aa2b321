"""One call within a time."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from tasks_lib.timelimit.clock import Clock
from tasks_lib.timelimit.threads import TimedOutError, begin

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """Return what `work` returns, done in another thread within a time; blocks meanwhile.

    Raises:
        TimedOutError: it was given up.
        StuckError: it was not begun.
    """
    job, thread = begin(work)
    if not job.ended(seconds):
        thread.give_up(job)
        raise TimedOutError
    return job.outcome.result()


async def within_async(clock: Clock, work: Callable[[], T]) -> T:
    """Return what `work` returns, done in another thread before its clock runs out.

    Cancelling the caller gives the work up.

    Raises:
        TimedOutError: it was given up.
        StuckError: it was not begun.
    """
    job, thread = begin(work)
    waiting = asyncio.wrap_future(job.outcome)
    try:
        while not waiting.done() and (left := clock.left()) > 0:
            await asyncio.wait((waiting,), timeout=left)
    except asyncio.CancelledError:
        waiting.cancel()
        thread.give_up(job, grace=0)
        raise
    if waiting.done():
        return waiting.result()
    waiting.cancel()
    await asyncio.to_thread(thread.give_up, job)
    raise TimedOutError
