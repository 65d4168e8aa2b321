"""Who works on a run: one process at a time, told apart from one that was killed."""

import fcntl
import os
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from tasks_lib.errors import DefinitionError
from tasks_lib.results.folder import RunFolder

_HELD: dict[Path, int] = {}
"""Lock files that this process holds, and their descriptors."""

_GUARD = threading.Lock()


class RunLock:
    """The right to write to a run's folder, held until it is released or the process is gone.

    The kernel gives it back when the process dies, however that happens, so that no lock is
    ever stale; the file names the holder for people. A record lock is taken rather than a
    `flock`: no child that outlives a killed process keeps it. Where a file system has no
    locks at all, nobody is kept out.

    Args:
        folder: the run; its folder must exist.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._run_id = folder.run_id
        self._path = lock_path(folder)

    def take(self) -> Self:
        """Take the lock.

        Raises:
            DefinitionError: another process, or another run in this one, has it.
            OSError: the folder can't be written.
        """
        with _GUARD:
            while self._path not in _HELD:
                descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
                if not _lock(descriptor):
                    holder = os.read(descriptor, 300).decode(errors="replace").strip()
                    os.close(descriptor)
                    raise self._refusal(holder or "another process")
                if _is_at(self._path, descriptor):
                    _HELD[self._path] = descriptor
                    holder = f"process {os.getpid()} on {socket.gethostname()}"
                    os.truncate(descriptor, 0)
                    os.write(descriptor, holder.encode())
                    return self
                os.close(descriptor)  # who held it has removed the file meanwhile
        raise self._refusal(f"this process, {os.getpid()}")

    def release(self) -> None:
        """Give the lock back; may be called twice."""
        with _GUARD:
            descriptor = _HELD.pop(self._path, None)
            if descriptor is not None:
                with suppress(OSError):
                    self._path.unlink()
                os.close(descriptor)

    def _refusal(self, holder: str) -> DefinitionError:
        return DefinitionError(
            f"run '{self._run_id}' is being worked on by {holder}",
            fix="wait for its end, or stop that process and then resume the run",
        )


def lock_path(folder: RunFolder) -> Path:
    """The file that is locked."""
    return folder.path / ".lock"


def is_worked_on(folder: RunFolder) -> bool:
    """Tell whether some process on this machine is working on a run."""
    path = lock_path(folder)
    with _GUARD:
        if path in _HELD:  # closing another descriptor of the file would give the lock back
            return True
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return not _lock(descriptor)
        finally:
            os.close(descriptor)


def _lock(descriptor: int) -> bool:
    """Lock a file; return False when another process has it."""
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True  # there are no locks on this file system
    return True


def _is_at(path: Path, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except OSError:
        return False
