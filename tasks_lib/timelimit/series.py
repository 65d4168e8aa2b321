"""Many calls one after another, each within a time."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from tasks_lib.timelimit.threads import StuckError, TimedOutError, begin

A = TypeVar("A")
T = TypeVar("T")


def each_within(
    seconds: float,
    items: Sequence[A],
    work: Callable[[A], T],
    late: Callable[[TimedOutError | StuckError], T],
) -> list[T]:
    """Return what `work` makes of every item, each within a time; blocks meanwhile.

    One thread makes all calls and is watched from here, so that a call costs no more for it.

    Args:
        seconds: the limit of each.
        items: what to work on.
        work: what it raises ends all.
        late: stands for the result of an item that was given up, or not begun.
    """
    results: list[T] = []
    while len(results) < len(items):
        series = _Series(items[len(results) :], work)
        try:
            job, thread = begin(series.work_off)
        except StuckError as error:
            return [*results, *(late(error) for _ in range(len(items) - len(results)))]
        while not job.ended(series.left(seconds)):
            if series.give_up(seconds):
                thread.give_up(job)
                break
        else:
            job.outcome.result()
        results += series.results
        if series.given_up:
            results.append(late(TimedOutError()))
    return results


class _Series(Generic[A, T]):
    """Items worked off in one thread, watched from another."""

    def __init__(self, items: Sequence[A], work: Callable[[A], T]) -> None:
        self.results: list[T] = []
        self.given_up = False
        self._items = items
        self._work = work
        self._began = time.monotonic()
        self._lock = threading.Lock()

    def work_off(self) -> None:
        for item in self._items:
            self._began = time.monotonic()
            result = self._work(item)
            with self._lock:
                if self.given_up:
                    return
                self.results.append(result)

    def left(self, seconds: float) -> float:
        """Return the seconds that the item in work has left."""
        return max(0.0, self._began + seconds - time.monotonic())

    def give_up(self, seconds: float) -> bool:
        """Take no more results if the item in work is late; tell whether it is."""
        with self._lock:
            self.given_up = self.left(seconds) <= 0 and len(self.results) < len(self._items)
            return self.given_up
