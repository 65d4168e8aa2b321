"""A lock between processes that nobody waits for too long."""

import fcntl
import time
from math import inf

WAIT_SECONDS = 0.2  # that an event loop may stand still; the lock is held for 0.05 ms
STOPPED_SECONDS = 2.0  # without the lock after which its holder won't let go of it soon
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.00025, 0.005  # seconds between tries


class BoundedLock:
    """A lock of an open file; the system frees it when its holder's process ends.

    A process may be stopped while it holds the lock (by a loaded machine, by SIGSTOP), and
    whoever waits for it holds up an event loop. So `with lock:` goes on without it in the end,
    and `unsettled` tells what that means. Once it was waited for in vain, it is tried but not
    waited for again until somebody has let go of it.

    Args:
        file: descriptor of the file; stays the caller's.
    """

    def __init__(self, file: int) -> None:
        self._file = file
        self._missed_since = inf

    def __enter__(self) -> None:
        if not self.take(WAIT_SECONDS if self._missed_since == inf else 0.0):
            self._missed_since = min(self._missed_since, time.monotonic())

    def __exit__(self, *error: object) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    @property
    def unsettled(self) -> bool:
        """Whether the lock is not ours and its holder may be about to act on what it has read."""
        return 0 <= time.monotonic() - self._missed_since < STOPPED_SECONDS

    def take(self, seconds: float) -> bool:
        """Take the lock if it can be had in so many seconds."""
        deadline, pause = time.monotonic() + seconds, _SHORTEST_PAUSE
        while not locked(self._file, fcntl.LOCK_EX):
            if time.monotonic() + pause > deadline:
                return False
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        self._missed_since = inf
        return True


def locked(file: int, kind: int) -> bool:
    """Lock an open file, `LOCK_EX` or `LOCK_SH`, unless that means to wait.

    Raises:
        OSError: its file system has no locks.
    """
    try:
        fcntl.flock(file, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
