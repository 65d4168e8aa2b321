"""The SQLite file of a ledger: opening it, sharing it with other processes, wording trouble."""

import shlex
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tasks_lib.errors import StoreError

T = TypeVar("T")

LOCK_WAIT = 0.02
"""Seconds the loop may stand still for another process's commit."""

LOCK_PATIENCE = 60.0
"""Seconds of trying before the store counts as unusable."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS reply (
    key BLOB NOT NULL,
    run_id TEXT NOT NULL,
    spec_key TEXT NOT NULL,
    caller TEXT NOT NULL,
    sample_id TEXT NOT NULL,
    trial INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    model_key TEXT NOT NULL,
    created REAL NOT NULL,
    duration REAL NOT NULL,
    request BLOB NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (key, run_id)
)
"""
_PROBE = "SELECT body FROM reply WHERE key = ? AND run_id = ?"


def ledger_path(store: Path) -> Path:
    """Where the ledger of `store` lies."""
    return store / "ledger.sqlite"


def open_ledger(path: Path) -> sqlite3.Connection:
    """Open the file of a ledger, made new if there is none.

    Raises:
        sqlite3.Error: it can't be used, is damaged, or is no ledger.
    """
    db = sqlite3.connect(path, timeout=LOCK_WAIT, check_same_thread=False)
    try:
        db.execute("PRAGMA journal_mode=WAL")
        # NORMAL: a commit survives the process at once and the machine at the next checkpoint
        db.execute("PRAGMA synchronous=NORMAL")
        db.execute(_SCHEMA)
        db.commit()
        db.execute(_PROBE, (b"", ""))  # fails where `reply` is a table of something else
    except sqlite3.Error:
        db.close()
        raise
    return db


def patiently(act: Callable[[], T]) -> T:
    """Do `act`, again and again while another process has the file locked.

    Raises:
        sqlite3.Error: it fails, or is locked for too long.
    """
    deadline = time.monotonic() + LOCK_PATIENCE
    while True:
        try:
            return act()
        except sqlite3.OperationalError as error:
            if not is_busy(error) or time.monotonic() > deadline:
                raise
            time.sleep(LOCK_WAIT)


def is_busy(error: sqlite3.Error) -> bool:
    """Tell whether another process has the file locked."""
    code: int = getattr(error, "sqlite_errorcode", 0)
    primary = code & 0xFF  # the code may be an extended one
    return primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def unusable(path: Path, error: sqlite3.Error) -> StoreError:
    """Return what is told of trouble with the file, with what helps against it."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    fix = "free disk space, check the permissions, or choose another store with --out"
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        command = shlex.join(["evalmill", "ledger", "repair", "-o", str(path.parent)])
        fix = f"save the replies that can still be read with: {command}"
    return StoreError(f"the ledger can't be used: {error}", where=str(path), fix=fix)
