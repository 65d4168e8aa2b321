"""What all processes of this machine know of one endpoint, and how to see and change it.

A file of doubles, mapped into memory, so that a call costs microseconds; a lock of the file
guards each change. Every user of the endpoint has a row in it, and holds a lock on a lease
file of that row for as long as it lives: the system frees both locks of a process that is
killed, and the next that looks clears its row. Who leaves last removes the files.

Who can't have the lock reads and writes without it: its own row is nobody else's to write,
the others' can still be read, and the rest is advice.
"""

import mmap
import os
import shutil
import socket
import time
from ctypes import Array, Structure, c_double, sizeof
from fcntl import LOCK_EX, LOCK_SH
from hashlib import blake2b
from pathlib import Path

from tasks_lib.models.limits.congestion import Congestion
from tasks_lib.models.limits.lock import WAIT_SECONDS, BoundedLock, locked
from tasks_lib.models.limits.memory import laid_out
from tasks_lib.models.limits.pace import SharedPace

MAX_ROWS = 64
FORGOTTEN_AFTER = 600.0  # seconds without a user after which nothing learnt counts any more
SIGN_OF_LIFE_SECONDS = 1.0  # between signs of life of who has calls in flight
SUSPENDED_AFTER = 60.0  # seconds without one after which a process's calls count no more
_SUSPECT_AFTER = 2.0  # seconds without one after which it is asked whether there is a process
_JOIN_SECONDS = 2.0
_LAYOUT = "v2"


@laid_out
class _Row(Structure):
    """What one user tells the others."""

    in_flight: float
    waiting: float
    seen_at: float


class Numbers(Structure):
    """What is known; all zero at first."""

    used_at: float
    rows_used: float
    pace: SharedPace
    congestion: Congestion
    rows: "Array[_Row]"
    _fields_ = (
        ("used_at", c_double),
        ("rows_used", c_double),
        ("pace", SharedPace),
        ("congestion", Congestion),
        ("rows", _Row * MAX_ROWS),
    )


class SharedState:
    """One user's part in what the machine knows of an endpoint.

    Use it as `with shared:` around looking at and changing the numbers.

    Args:
        folder: where the endpoint's files are; None keeps the numbers to this user alone, as
            does a folder that can't be used, or one that has no row left.
        now: the clock's time; the clock is the system's monotonic one, in seconds.
    """

    def __init__(self, folder: Path | None, now: float) -> None:
        self.numbers = Numbers()
        self._row = 0
        self._file = self._lease = -1
        self._lock: BoundedLock | None = None
        if folder is not None:
            self._folder = folder
            self._join(now)

    def __enter__(self) -> None:
        if self._lock is not None:
            self._lock.__enter__()

    def __exit__(self, *error: object) -> None:
        if self._lock is not None:
            self._lock.__exit__()

    @property
    def unsettled(self) -> bool:
        """Whether no call may begin now, as others may be about to let some begin."""
        return self._lock is not None and self._lock.unsettled

    @property
    def alone(self) -> bool:
        """Whether nobody else has been here since this user came."""
        return self._lock is None or self.numbers.rows_used <= 1

    def tell(self, in_flight: int, waiting: int, now: float) -> None:
        """Tell the others how many calls are in flight here, and how many wait."""
        row = self.numbers.rows[self._row]
        row.in_flight, row.waiting = in_flight, waiting
        row.seen_at = self.numbers.used_at = now

    def others(self, now: float) -> list[tuple[int, int]]:
        """Return (calls in flight, calls waiting) of each other user that has any."""
        found: list[tuple[int, int]] = []
        if self.alone:
            return found
        for number, row in enumerate(self._rows()):
            if number == self._row or not row.in_flight + row.waiting:
                continue
            silent = now - row.seen_at
            if silent > _SUSPECT_AFTER and self._is_free(number):
                row.in_flight = row.waiting = 0
            elif silent < SUSPENDED_AFTER:
                found.append((int(row.in_flight), int(row.waiting)))
        return found

    def close(self, keep: bool = False) -> None:
        """Leave; the last user removes the files unless they are worth keeping for the next."""
        if self._lock is None:
            return
        self.tell(0, 0, self.numbers.used_at)
        if not keep and self._lock.take(WAIT_SECONDS) and self._is_last():
            self._remove()
        self._leave()

    def _rows(self) -> list[_Row]:
        return self.numbers.rows[: int(self.numbers.rows_used)]

    def _is_last(self) -> bool:
        return all(row == self._row or self._is_free(row) for row in range(len(self._rows())))

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
                self._lock = BoundedLock(self._file)
                self._lock.take(deadline - time.monotonic())
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
        """Take a row and map the numbers; False when all rows are taken."""
        row = next((row for row in range(MAX_ROWS) if self._has_leased(row)), None)
        if row is None:
            return False
        os.ftruncate(self._file, sizeof(Numbers))
        memory = mmap.mmap(self._file, sizeof(Numbers))
        self._row, self.numbers = row, Numbers.from_buffer(memory)
        if all(other == row or self._is_free(other) for other in range(MAX_ROWS)):
            if not 0 <= now - self.numbers.used_at < FORGOTTEN_AFTER:  # < 0: after a reboot
                memory[:] = bytes(len(memory))
            self.numbers.rows_used = 0
        self.numbers.rows_used = max(self.numbers.rows_used, row + 1)
        self.tell(0, 0, now)
        return True

    def _leave(self) -> None:
        self.__exit__()  # closing the file is not enough: its mapping keeps it open
        self._lock = None
        for file in (self._file, self._lease):
            if file >= 0:
                os.close(file)
        self._file = self._lease = -1

    def _has_leased(self, row: int) -> bool:
        """Take the lease of a row if nobody holds it."""
        lease = os.open(self._lease_path(row), os.O_RDWR | os.O_CREAT, 0o600)
        if locked(lease, LOCK_EX):
            self._lease = lease
            return True
        os.close(lease)
        return False

    def _is_free(self, row: int) -> bool:
        """Whether the user of a row is gone, as far as can be seen."""
        try:
            lease = os.open(self._lease_path(row), os.O_RDWR)
        except OSError as error:
            return isinstance(error, FileNotFoundError)
        try:
            return locked(lease, LOCK_SH)
        finally:
            os.close(lease)  # which lets go of the lock, too

    def _lease_path(self, row: int) -> Path:
        return self._folder / f"lease-{row}"


def endpoint_folder(home: Path, identity: str) -> Path:
    """Where this machine's numbers of an endpoint and model are kept, under evalmill's home.

    A home may be shared between machines, their clocks and memories are not.
    """
    told = f"{socket.gethostname()} {identity}".encode("utf-8", "surrogatepass")
    name = blake2b(told, digest_size=8).hexdigest()
    return home / "limits" / f"{name}-{_LAYOUT}"
