"""Driving a plan in this process: threads that take batches in order, no server.

It is the whole engine with `--no-prefect`, the head start while Prefect is being imported,
and the fallback when no server can be had.
"""

import threading
import time
from collections.abc import Callable, Iterator

from tasks_lib import steps
from tasks_lib.errors import Stopped
from tasks_lib.runs.run import Run, StepResult


class LocalDriver:
    """Runs the batches of a plan on threads of this process.

    Args:
        run: the open run.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._run_dir = str(run.folder.path)
        self._batches: Iterator[tuple[str, int, int]] = run.plan.batches()
        self._lock = threading.Lock()
        self._paused = threading.Event()
        self._under_way = threading.Event()
        self._failure: BaseException | None = None
        self._threads: list[_Worker] = []

    def start(self) -> None:
        """Begin the batches, as many at once as the plan says; returns at once."""
        for i in range(self._run.plan.batches_at_once):
            thread = _Worker(self._work, f"batch-{i}")
            self._threads.append(thread)
            thread.start()

    def wait_until_under_way(self, seconds: float) -> None:
        """Wait at most so long until a batch is solved, or can't be."""
        self._under_way.wait(seconds)

    def pause(self) -> None:
        """Take no further batch; those in work go on, and whoever asks for them joins them."""
        self._paused.set()

    def resume(self) -> None:
        """Take batches again after a pause; what was done meanwhile is found done."""
        self._paused.clear()
        self._batches = self._run.plan.batches()
        self._threads = [thread for thread in self._threads if not thread.ended.is_set()]
        self.start()

    def wait(self) -> None:
        """Wait until all batches are done.

        Raises:
            Stopped: the run was interrupted.
            StoreError: the store failed.
        """
        for thread in self._threads:
            thread.ended.wait()
        if self._failure is not None:
            raise self._failure

    def settle(self, seconds: float) -> None:
        """Wait at most so long for the batches in work to end after `run.stop`."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.ended.wait(max(0.0, deadline - time.monotonic()))

    def finish(self) -> StepResult:
        """Wait for the batches, then score all and reduce; return what `reduce` says.

        Raises:
            Stopped: the run was interrupted.
            StoreError: the store failed.
        """
        self.wait()
        for spec in self._run.plan.specs:
            steps.score_all(self._run_dir, spec.key)
        return steps.reduce(self._run_dir)

    def _next(self) -> tuple[str, int, int] | None:
        with self._lock:
            if self._paused.is_set() or self._failure is not None:
                return None
            return next(self._batches, None)

    def _work(self) -> None:
        while (batch := self._next()) is not None:
            try:
                steps.solve_batch(self._run_dir, *batch)
                self._under_way.set()
                steps.score_batch(self._run_dir, *batch)
            except BaseException as error:
                if self._failure is None or isinstance(self._failure, Stopped):
                    self._failure = error
                self._under_way.set()
                self._run.stop()
                return


class _Worker(threading.Thread):
    """A thread whose end can be waited for in spite of Ctrl-C.

    Before Python 3.13 a `join` that an exception interrupts takes the thread for ended, and
    the next one doesn't wait for the replies that are still under way.
    """

    def __init__(self, work: Callable[[], None], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        self.ended = threading.Event()

    def run(self) -> None:
        """Work to the end."""
        try:
            self._work()
        finally:
            self.ended.set()
