"""Numbers about one endpoint's limits that all processes of this machine see and change.

A file of doubles, mapped into memory, so that a call costs microseconds. A lock of the file
guards each change. Every user of the endpoint has a row in it, and holds a lock on a lease
file of that row for as long as it lives: the system frees both locks of a process that is
killed, and the next that looks clears its row. All numbers are advice: a process that can't
get the lock, because its holder was stopped, goes on without it.
"""

import fcntl
import mmap
import os
import shutil
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import blake2b
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
_LOCK_TRIES, _LOCK_PAUSE = 40, 0.00025  # seconds between tries
_LOCKLESS_SECONDS = 1.0  # no new try so soon after the lock could not be had
_SUSPECT_AFTER = 2.0  # seconds without a sign of life after which a row's lease is looked at


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
        self._folder = folder
        self._file = self._lease = -1
        self._lockless_until = 0.0
        self._row = 0
        if folder is None or not self._join(folder, now):
            self._folder = None
            self.numbers = memoryview(bytearray(_SIZE * 8)).cast("d")

    def __enter__(self) -> None:
        if self._file < 0:
            return
        for _ in range(_LOCK_TRIES):
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if time.monotonic() < self._lockless_until:
                    return
                time.sleep(_LOCK_PAUSE)
            else:
                return
        self._lockless_until = time.monotonic() + _LOCKLESS_SECONDS

    def __exit__(self, *error: object) -> None:
        if self._file >= 0:
            fcntl.flock(self._file, fcntl.LOCK_UN)

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
            if not 0 <= now - seen_at < _SUSPECT_AFTER and self._is_free(row):
                self.numbers[at + _IN_FLIGHT] = self.numbers[at + _WAITING] = 0
                continue
            if now - seen_at >= _SUSPECT_AFTER:
                self.numbers[at + _SEEN_AT] = now  # it lives; look again in a while
            found.append((int(in_flight), int(waiting)))
        return found

    def close(self, keep: bool = False) -> None:
        """Leave; the last user removes the files unless they are worth keeping for the next."""
        if self._folder is None:
            return
        with self:
            self.tell(0, 0, self.numbers[_USED_AT])
            rows = range(int(self.numbers[_ROWS_USED]))
            if not keep and all(row == self._row or self._is_free(row) for row in rows):
                shutil.rmtree(self._folder, ignore_errors=True)
        self._leave()

    def _join(self, folder: Path, now: float) -> bool:
        """Become a user of the folder's file; False when that can't be."""
        for _ in range(5):  # the last user may be removing the folder just now
            try:
                folder.mkdir(parents=True, exist_ok=True)
                self._file = os.open(folder / "numbers", os.O_RDWR | os.O_CREAT, 0o600)
            except OSError:
                continue
            with self:
                if self._take_part(folder, now):
                    return True
            self._leave()
        return False

    def _take_part(self, folder: Path, now: float) -> bool:
        try:
            if not os.path.samestat(os.fstat(self._file), os.stat(folder / "numbers")):
                return False
            os.ftruncate(self._file, _SIZE * 8)
            self.numbers = memoryview(mmap.mmap(self._file, _SIZE * 8)).cast("d")
            row = next((row for row in range(MAX_ROWS) if self._has_leased(row)), None)
        except OSError:
            return False
        if row is None:
            return False
        self._row = row
        others = any(self._is_free(i) is False for i in range(MAX_ROWS) if i != row)
        idle = now - self.numbers[_USED_AT]
        if not others and not 0 <= idle < FORGOTTEN_AFTER:  # time runs backwards over a reboot
            self.numbers[:] = memoryview(bytes(_SIZE * 8)).cast("d")
        if not others:
            self.numbers[_ROWS_USED] = 0
        self.numbers[_ROWS_USED] = max(self.numbers[_ROWS_USED], row + 1)
        self.tell(0, 0, now)
        return True

    def _leave(self) -> None:
        for file in (self._file, self._lease):
            if file >= 0:
                os.close(file)
        self._file = self._lease = -1

    def _has_leased(self, row: int) -> bool:
        """Take the lease of a row if nobody holds it."""
        assert self._folder is not None
        lease = os.open(self._folder / f"lease-{row}", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lease)
            return False
        self._lease = lease
        return True

    def _is_free(self, row: int) -> bool:
        """Whether the user of a row is gone."""
        with self._opened_lease(row) as lease:
            if lease < 0:
                return True
            try:
                fcntl.flock(lease, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True  # closing it frees it again

    @contextmanager
    def _opened_lease(self, row: int) -> Iterator[int]:
        assert self._folder is not None
        try:
            lease = os.open(self._folder / f"lease-{row}", os.O_RDWR)
        except OSError:
            yield -1
            return
        try:
            yield lease
        finally:
            os.close(lease)


def limit_folder(home: Path, identity: str) -> Path:
    """Where this machine's numbers of an endpoint and model are kept, under evalmill's home.

    A home may be shared between machines, their clocks and memories are not.
    """
    told = f"{socket.gethostname()} {identity}".encode("utf-8", "surrogatepass")
    name = blake2b(told, digest_size=8).hexdigest()
    return home / "limits" / f"{name}-{_LAYOUT}"
