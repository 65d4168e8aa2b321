"""Saving what can be read of a damaged ledger."""

import os
import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tasks_lib.errors import StoreError
from tasks_lib.models.ledger.file import ledger_path, open_ledger
from tasks_lib.models.ledger.sqlite_pages import Row, rows

_SIDE_FILES = ("-wal", "-shm")
_KEY_SIZE = 16
_NUMBER = (int, float)  # SQLite writes whole numbers as integers
_KINDS: tuple[type | tuple[type, ...], ...] = (
    bytes,
    str,
    str,
    str,
    str,
    int,
    int,
    str,
    _NUMBER,
    _NUMBER,
    bytes,
    bytes,
)
_INSERT = f"""
INSERT INTO reply VALUES ({",".join("?" * len(_KINDS))})
ON CONFLICT DO UPDATE SET
    created = excluded.created, duration = excluded.duration, body = excluded.body
    WHERE excluded.created > created
"""


@dataclass(frozen=True)
class Repaired:
    """What came of a repair.

    Attributes:
        kept: replies in the new ledger.
        aside: where the old file is now.
    """

    kept: int
    aside: Path


def repair(store: Path) -> Repaired:
    """Put a new ledger with all replies that can still be read in the place of the old one.

    Nobody may be using the store.

    Raises:
        StoreError: there is no ledger, or the new one can't be written.
    """
    old = ledger_path(store)
    new = old.with_name(f".{old.name}.new")
    if not old.exists():
        raise StoreError(f"'{store}' has no ledger", fix="name the store with --out")
    try:
        _remove(new)
        with closing(open_ledger(new)) as target:
            kept = _copy(old, target)
            target.execute("PRAGMA journal_mode=DELETE")  # the file alone holds everything
        aside = old.with_name(f"ledger.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}.sqlite")
        for suffix in _SIDE_FILES:  # first: a new file must never meet the old one's journal
            with suppress(FileNotFoundError):
                os.rename(f"{old}{suffix}", f"{aside}{suffix}")
        os.link(old, aside)
        os.replace(new, old)
    except (OSError, sqlite3.Error) as error:
        raise StoreError(
            f"the ledger can't be repaired: {error}",
            where=str(old),
            fix="free disk space, and check the permissions",
        ) from None
    return Repaired(kept, aside)


def _copy(old: Path, target: sqlite3.Connection) -> int:
    """Copy all replies that can be read; return how many."""
    with target:
        target.executemany(_INSERT, (row for row in rows(old) if _is_sound(row)))
    return int(target.execute("SELECT count(*) FROM reply").fetchone()[0])


def _is_sound(row: Row) -> bool:
    fitting = (isinstance(value, kind) for value, kind in zip(row, _KINDS, strict=False))
    return len(row) == len(_KINDS) and all(fitting) and len(row[0]) == _KEY_SIZE


def _remove(path: Path) -> None:
    for suffix in ("", *_SIDE_FILES):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
