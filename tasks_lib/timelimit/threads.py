"""The threads that run authors' code, and how they are given up."""

import asyncio
import contextvars
import ctypes
import queue
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from contextlib import suppress
from typing import Any, Generic, TypeVar

T = TypeVar("T")

MOST_IDLE = 128
"""Threads kept for the next call; starting one, with a loop, costs 0.2 ms."""
MOST_STUCK = 64
"""Threads given up and still alive before no more calls are made. Asleep they cost next to
nothing, but code that hangs so often hangs always, and its rows need not wait out their limits."""
CANCEL_GRACE = 1.0
"""Seconds a cancelled coroutine has to clean up before its thread is interrupted."""


class TimedOutError(Exception):
    """A call took longer than its limit and was given up."""


class StuckError(Exception):
    """No call was made: too many earlier ones were given up and never ended."""


class GivenUp(BaseException):
    """Raised inside a thread that was given up, so that it ends."""


class Job(Generic[T]):
    """A call on its way through a thread.

    Attributes:
        outcome: what came of it; always set when the call ended.
        cancel: cancels the coroutine it runs, from any thread; None when it runs none.
        given_up: whether nobody waits for it any more.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self.outcome: Future[T] = Future()
        self.outcome.set_running_or_notify_cancel()  # so that no waiter can cancel it
        self.cancel: Callable[[], Any] | None = None
        self.given_up = False
        self._work = work
        self._context = contextvars.copy_context()

    def do(self) -> None:
        """Make the call."""
        try:
            result = self._context.run(self._work)
        except BaseException as error:
            self.outcome.set_exception(error)
        else:
            self.outcome.set_result(result)

    def ended(self, seconds: float) -> bool:
        """Wait at most so long for the call to end; tell whether it has."""
        return bool(wait((self.outcome,), max(0.0, seconds)).done)


class SnippetThread(threading.Thread):
    """Makes one call after another, until one of them is given up."""

    def __init__(self) -> None:
        super().__init__(name="evalmill-snippet", daemon=True)
        self.job: Job[Any] | None = None
        self._jobs: queue.SimpleQueue[Job[Any]] = queue.SimpleQueue()
        self._lock = threading.Lock()  # an exception must hit the job it is meant for
        self._runner: asyncio.Runner | None = None

    def take(self, job: Job[Any]) -> None:
        """Make this call next; only for an idle thread."""
        self.job = job
        self._jobs.put(job)

    def run(self) -> None:
        """Work until a job is given up, or enough threads are idle."""
        with suppress(GivenUp):
            while True:
                job = self._jobs.get()
                job.do()
                with self._lock:
                    self.job = None
                    if job.given_up:
                        break
                if not _idle.keep(self):
                    break
        self._close_loop()

    def run_coroutine(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on this thread's loop; giving the job up cancels it."""
        if self._runner is None:
            self._runner = asyncio.Runner()
        loop, job = self._runner.get_loop(), self.job

        async def cancellable() -> T:
            task = asyncio.current_task()
            assert task is not None, "a coroutine that runs is a task's"
            if job is not None:
                job.cancel = lambda: loop.call_soon_threadsafe(task.cancel)
            try:
                return await coroutine
            finally:
                await _end_others(task)

        try:
            return self._runner.run(cancellable())
        except (KeyboardInterrupt, SystemExit):  # a task's ends the loop, whatever else runs there
            self._close_loop()
            raise

    def _close_loop(self) -> None:
        if self._runner is not None:
            with suppress(BaseException):  # what still runs there may raise whatever it likes
                self._runner.close()
            self._runner = None

    def give_up(self, job: Job[Any], grace: float = CANCEL_GRACE) -> None:
        """Have a late job end, if it can; the thread takes no other."""
        with self._lock:
            if self.job is not job:
                return  # it ended just now
            job.given_up = True
        _idle.stuck(self)
        if job.cancel is not None:
            with suppress(RuntimeError):  # its loop has closed meanwhile
                job.cancel()
            if grace <= 0 or job.ended(grace):
                return
        with self._lock:
            if self.job is job and self.ident is not None:
                ctypes.pythonapi.PyThreadState_SetAsyncExc(
                    ctypes.c_ulong(self.ident), ctypes.py_object(GivenUp)
                )


class _Idle:
    """Threads that wait for a call, and those that were given up."""

    def __init__(self) -> None:
        self._waiting: list[SnippetThread] = []
        self._stuck: list[SnippetThread] = []
        self._lock = threading.Lock()

    def taken(self) -> SnippetThread | None:
        with self._lock:
            if self._waiting:
                return self._waiting.pop()
            self._stuck = [thread for thread in self._stuck if thread.is_alive()]
            if len(self._stuck) >= MOST_STUCK:
                raise StuckError
        return None

    def keep(self, thread: SnippetThread) -> bool:
        with self._lock:
            if len(self._waiting) >= MOST_IDLE:
                return False
            self._waiting.append(thread)
            return True

    def stuck(self, thread: SnippetThread) -> None:
        with self._lock:
            self._stuck.append(thread)


_idle = _Idle()


def begin(work: Callable[[], T]) -> tuple[Job[T], SnippetThread]:
    """Make a call in a thread of its own; return at once.

    Raises:
        StuckError: too many earlier calls never ended.
    """
    job = Job(work)
    thread = _idle.taken()
    if thread is None:
        thread = SnippetThread()
        thread.start()
    thread.take(job)
    return job, thread


def run_coroutine(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, as `asyncio.run`; in a limited call, so that it can be cancelled.

    Raises:
        RuntimeError: a loop is running in this thread.
    """
    thread = threading.current_thread()
    if isinstance(thread, SnippetThread):
        return thread.run_coroutine(coroutine)
    return asyncio.run(coroutine)


async def _end_others(task: "asyncio.Task[Any]") -> None:
    """Cancel what a coroutine left running, as `asyncio.run` does."""
    others = [other for other in asyncio.all_tasks() if other is not task]
    for other in others:
        other.cancel()
    if others:
        await asyncio.gather(*others, return_exceptions=True)
