"""The time a call has left."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Counts down; stands still while a call waits for what has limits of its own.

    Args:
        seconds: the limit.
    """

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._running_since: float | None = time.monotonic()
        self._holds = 0
        self._lock = threading.Lock()

    def left(self) -> float:
        """Return the seconds left; zero or less when there are none."""
        with self._lock:
            return self._remaining()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Stand still inside; several threads may do so at once."""
        with self._lock:
            self._left = self._remaining()
            self._running_since = None
            self._holds += 1
        try:
            yield
        finally:
            with self._lock:
                self._holds -= 1
                if not self._holds:
                    self._running_since = time.monotonic()

    def _remaining(self) -> float:
        if self._running_since is None:
            return self._left
        return self._left - (time.monotonic() - self._running_since)
