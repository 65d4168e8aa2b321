"""Numbers about one endpoint's limits that all processes of this machine see and change.

A file of doubles, mapped into memory, so that a call costs microseconds. A lock of the file
guards each change. Every user of the endpoint has a row in it, and holds a lock on a lease
file of that row for as long as it lives: the system frees both locks of a process that is
killed, and the next that looks clears its row.

A process may be stopped while it holds the lock (SIGSTOP, a loaded machine), and whoever waits
for it holds up its own event loop. So the wait is bounded. Who could not have the lock lets no
call begin for now; when that has lasted for `STOPPED_SECONDS`, it goes on without it: the
others' rows can still be read, and the rest is advice. Nobody clears up without it.
"""

import fcntl
import mmap
import os
import shutil
import socket
import time
from hashlib import blake2b
from math import inf
from pathlib import Path
from typing import Any

PACE, CONGESTION, COUNTS = slice(2, 10), slice(10, 24), slice(24, 552)
"""Which numbers belong to whom."""

MAX_ROWS = 64
_ROWS_AT, _ROW_SIZE = 552, 3
_SIZE = _ROWS_AT + MAX_ROWS * _ROW_SIZE
_USED_AT, _ROWS_USED = 0, 1
_IN_FLIGHT, _WAITING, _SEEN_AT = range(_ROW_SIZE)

_LAYOUT = "v1"
FORGOTTEN_AFTER = 600.0  # seconds without a user after which nothing learnt counts any more
LOCK_SECONDS = 0.2  # that the loop may stand still for the lock, which is held for 0.05 ms
STOPPED_SECONDS = 2.0  # without the lock after which its holder won't let go of it soon
_JOIN_SECONDS = 2.0
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.00025, 0.005  # seconds between tries
SIGN_OF_LIFE_SECONDS = 1.0  # between signs of life of who has calls in flight or waiting
_SUSPECT_AFTER = 2.0  # seconds without a sign of life after which a row's lease is looked at
SUSPENDED_AFTER = 60.0  # seconds after which the calls of a process that lives count no more


class Number:
    """A number among those that its owner's `numbers` view."""

    def __init__(self, index: int) -> None:
        self._index = index

    def __get__(self, owner: Any, kind: type) -> float:
        number: float = owner.numbers[self._index]
        return number

    def __set__(self, owner: Any, value: float) -> None:
        owner.numbers[self._index] = value


class SharedLimit:
    """One user's membership in what the machine knows of an endpoint.

    Use it as `with shared:` around looking at and changing the numbers.

    Args:
        folder: where the endpoint's files are; None keeps the numbers to this user alone, as
            does a folder that can't be used, or one that has no row left.
        now: the clock's time; the clock is the system's monotonic one, in seconds.
    """

    def __init__(self, folder: Path | None, now: float) -> None:
        self._file = self._lease = -1
        self._row = 0
        self._lockless_since = inf
        self.numbers = memoryview(bytearray(_SIZE * 8)).cast("d")
        if folder is not None:
            self._folder = folder
            self._join(now)

    def __enter__(self) -> None:
        if self._file < 0:
            return
        if not self._lock(LOCK_SECONDS if self._lockless_since == inf else 0.0):
            self._lockless_since = min(self._lockless_since, time.monotonic())

    def __exit__(self, *error: object) -> None:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

    @property
    def unsettled(self) -> bool:
        """Whether no call may begin now, as the lock can't be had; asked inside of `with`."""
        return 0 <= time.monotonic() - self._lockless_since < STOPPED_SECONDS

    def _lock(self, seconds: float) -> bool:
        """Take the lock if it can be had in time."""
        deadline, pause = time.monotonic() + seconds, _SHORTEST_PAUSE
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() + pause > deadline:
                    return False
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE)
            else:
                self._lockless_since = inf
                return True

    @property
    def alone(self) -> bool:
        """Whether nobody else has been here since this user came."""
        return self._file < 0 or self.numbers[_ROWS_USED] <= 1

    def tell(self, in_flight: int, waiting: int, now: float) -> None:
        """Tell the others how many calls are in flight here, and how many wait."""
        at = _ROWS_AT + self._row * _ROW_SIZE
        numbers = self.numbers
        numbers[at + _IN_FLIGHT] = in_flight
        numbers[at + _WAITING] = waiting
        numbers[at + _SEEN_AT] = numbers[_USED_AT] = now

    def others(self, now: float) -> list[tuple[int, int]]:
        """Return (calls in flight, calls waiting) of each other user that has any; lock held."""
        found: list[tuple[int, int]] = []
        if self.alone:
            return found
        for row in range(int(self.numbers[_ROWS_USED])):
            at = _ROWS_AT + row * _ROW_SIZE
            in_flight, waiting, seen_at = self.numbers[at : at + _ROW_SIZE]
            if row == self._row or not in_flight + waiting:
                continue
            silent = now - seen_at
            if silent > _SUSPECT_AFTER and self._is_free(row):
                self.numbers[at + _IN_FLIGHT] = self.numbers[at + _WAITING] = 0
            elif silent < SUSPENDED_AFTER:
                found.append((int(in_flight), int(waiting)))
        return found

    def close(self, keep: bool = False) -> None:
        """Leave; the last user removes the files unless they are worth keeping for the next."""
        if self._file < 0:
            return
        self.tell(0, 0, self.numbers[_USED_AT])
        if not keep and self._lock(LOCK_SECONDS) and self._is_last():
            self._remove()
        self._leave()

    def _is_last(self) -> bool:
        """Whether all other users are gone."""
        rows = range(int(self.numbers[_ROWS_USED]))
        return all(row == self._row or self._is_free(row) for row in rows)

    def _remove(self) -> None:
        """Remove the folder in one step: whoever comes finds all of it or nothing."""
        aside = self._folder.with_name(f".{self._folder.name}.{os.getpid()}")
        try:
            self._folder.rename(aside)
        except OSError:
            return
        shutil.rmtree(aside, ignore_errors=True)

    def _join(self, now: float) -> None:
        """Become a user of the folder's file, or stay alone when that can't be."""
        deadline = time.monotonic() + _JOIN_SECONDS
        joined = None
        while joined is None and time.monotonic() < deadline:
            try:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = os.open(self._folder / "numbers", os.O_RDWR | os.O_CREAT, 0o600)
                self._lock(deadline - time.monotonic())
                if self._is_current():
                    joined = self._take_row(now)
            except FileNotFoundError:
                pass  # the last user has removed the folder just now
            except OSError:
                joined = False
            if joined:
                self.__exit__()
            else:
                self._leave()

    def _is_current(self) -> bool:
        """Whether the file that was opened is not one that has been removed meanwhile."""
        return os.path.samestat(os.fstat(self._file), os.stat(self._folder / "numbers"))

    def _take_row(self, now: float) -> bool:
        """Map the numbers and take a row; False when all are taken."""
        row = next((row for row in range(MAX_ROWS) if self._has_leased(row)), None)
        if row is None:
            return False
        os.ftruncate(self._file, _SIZE * 8)
        self.numbers = memoryview(mmap.mmap(self._file, _SIZE * 8)).cast("d")
        self._row = row
        idle = now - self.numbers[_USED_AT]
        if all(i == row or self._is_free(i) for i in range(MAX_ROWS)):
            if not 0 <= idle < FORGOTTEN_AFTER:  # time runs backwards over a reboot
                self.numbers[:] = memoryview(bytes(_SIZE * 8)).cast("d")
            self.numbers[_ROWS_USED] = 0
        self.numbers[_ROWS_USED] = max(self.numbers[_ROWS_USED], row + 1)
        self.tell(0, 0, now)
        return True

    def _leave(self) -> None:
        self.__exit__()  # closing it is not enough: its mapping keeps it open
        for file in (self._file, self._lease):
            if file >= 0:
                os.close(file)
        self._file = self._lease = -1

    def _has_leased(self, row: int) -> bool:
        """Take the lease of a row if nobody holds it."""
        self._lease = os.open(self._lease_path(row), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._lease)
            self._lease = -1
            return False
        return True

    def _is_free(self, row: int) -> bool:
        """Whether the user of a row is gone, as far as can be seen."""
        try:
            lease = os.open(self._lease_path(row), os.O_RDWR)
        except OSError as error:
            return isinstance(error, FileNotFoundError)
        try:
            fcntl.flock(lease, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return False
        finally:
            os.close(lease)  # which lets go of the lock, too
        return True

    def _lease_path(self, row: int) -> Path:
        return self._folder / f"lease-{row}"


def limit_folder(home: Path, identity: str) -> Path:
    """Where this machine's numbers of an endpoint and model are kept, under evalmill's home.

    A home may be shared between machines, their clocks and memories are not.
    """
    told = f"{socket.gethostname()} {identity}".encode("utf-8", "surrogatepass")
    name = blake2b(told, digest_size=8).hexdigest()
    return home / "limits" / f"{name}-{_LAYOUT}"
