"""The ledger as a run uses it, in WAL mode, so that processes and runs share it.

Replies that arrive in one turn of the event loop are committed together; the call that asked
waits for the commit and keeps its slot meanwhile, so that after a kill no more calls are
repeated than were in flight.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from hashlib import blake2b
from pathlib import Path
from typing import Literal, NamedTuple

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import storable
from tasks_lib.models.call_id import CallId
from tasks_lib.models.ledger.file import (
    LOCK_PATIENCE,
    LOCK_WAIT,
    is_busy,
    ledger_path,
    open_ledger,
    patiently,
    unusable,
)

CachePolicy = Literal["reuse", "update", "no-cache"]
"""Which entries are read: all, those of the same run, or none; all policies record."""

_INSERT = "INSERT OR REPLACE INTO reply VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_FIND = "SELECT body FROM reply WHERE key = ? ORDER BY run_id = ? DESC, created DESC LIMIT 1"
_FIND_OF_RUN = "SELECT body FROM reply WHERE key = ? AND run_id = ?"


def call_key(call: CallId, endpoint: str, request: bytes) -> bytes:
    """Return the 16 bytes that identify what one call asks for (DESIGN: "The ledger").

    Args:
        call: whose it is.
        endpoint: address and model, without secrets.
        request: the complete request in canonical form (sorted keys).
    """
    digest = blake2b(digest_size=16)
    for part in (call.spec_key, call.caller, endpoint, call.sample_id):
        text = part.encode("utf-8", "surrogatepass")
        digest.update(b"%d:%b" % (len(text), text))  # lengths, so that no two splits agree
    digest.update(b"%d:%d:" % (call.trial, call.ordinal))
    digest.update(request)
    return digest.digest()


class Entry(NamedTuple):
    """One recorded reply.

    Attributes:
        key: of the call, by `call_key`.
        call: whose it was.
        model_key: who answered.
        created: Unix time of the reply.
        duration: seconds the successful attempt took.
        request: the request's body as it was sent.
        body: the reply's body as it came.
    """

    key: bytes
    call: CallId
    model_key: str
    created: float
    duration: float
    request: bytes
    body: bytes


class Ledger:
    """The ledger as one run uses it; belongs to the model loop.

    Args:
        store: folder of the store; must exist.
        run_id: the run that records.
        policy: which entries `get` returns.

    Raises:
        StoreError: the file can't be opened or is no ledger.
    """

    def __init__(self, store: Path, run_id: str, policy: CachePolicy) -> None:
        self._path = ledger_path(store)
        self._run_id = run_id
        self._policy = policy
        self._pending: list[Entry] = []
        self._committed: asyncio.Future[None] | None = None
        self._waiting_since = 0.0
        self._failure: StoreError | None = None
        try:
            self._db = patiently(lambda: open_ledger(self._path))
        except sqlite3.Error as error:
            raise unusable(self._path, error) from None

    def get(self, key: bytes) -> bytes | None:
        """Return the body of an earlier reply that the policy lets be read.

        A reply of this run comes first, else the newest.

        Raises:
            StoreError: the file is unusable.
        """
        if self._policy == "no-cache":
            return None
        query = _FIND_OF_RUN if self._policy == "update" else _FIND
        values = (key, self._run_id)
        try:
            row = patiently(lambda: self._db.execute(query, values).fetchone())
        except sqlite3.Error as error:
            raise unusable(self._path, error) from None
        return None if row is None else row[0]

    async def put(self, entry: Entry) -> None:
        """Record a reply; returns when it is durable against a killed process.

        Raises:
            StoreError: the disk is full or the file unusable.
        """
        self._pending.append(entry)
        if self._committed is None:
            loop = asyncio.get_running_loop()
            self._committed = loop.create_future()
            self._waiting_since = time.monotonic()
            loop.call_soon(self._commit)
        # shielded, so that a caller that is cancelled does not take the others with it
        await asyncio.shield(self._committed)

    def check_recording(self) -> None:
        """Raise what kept an earlier reply from being recorded: more would be paid in vain.

        Raises:
            StoreError: there was such trouble.
        """
        if self._failure is not None:
            raise self._failure

    def _commit(self) -> None:
        if self._committed is None:
            return  # `close` was earlier
        try:
            self._write()
        except sqlite3.Error as error:
            patient = time.monotonic() - self._waiting_since < LOCK_PATIENCE
            if is_busy(error) and patient:
                self._committed.get_loop().call_later(LOCK_WAIT, self._commit)
            else:
                self._finish(unusable(self._path, error))
        else:
            self._finish(None)

    def _write(self) -> None:
        rows = [_row(entry, self._run_id) for entry in self._pending]
        with self._db:  # one transaction, rolled back as a whole
            self._db.executemany(_INSERT, rows)

    def _finish(self, error: StoreError | None) -> None:
        self._failure = self._failure or error
        waiting, self._committed = self._committed, None
        self._pending.clear()
        if waiting is None or waiting.done():
            return
        if error is None:
            waiting.set_result(None)
        else:
            waiting.set_exception(error)

    def close(self) -> None:
        """Commit what is pending and close the file; waits for other processes.

        Raises:
            StoreError: what is pending can't be recorded.
        """
        try:
            if self._pending:
                patiently(self._write)
        except sqlite3.Error as error:
            trouble = unusable(self._path, error)
            self._finish(trouble)
            raise trouble from None
        else:
            self._finish(None)
        finally:
            self._db.close()


def entries(store: Path, run_id: str) -> Iterator[Entry]:
    """Yield what run `run_id` recorded, in the order of its samples' ids and calls.

    Raises:
        StoreError: there is no readable ledger.
    """
    path = ledger_path(store).absolute()
    if not path.exists():
        raise StoreError(f"'{store}' has no ledger", fix="name the store with --out")
    try:
        with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
            rows = db.execute(
                "SELECT key, spec_key, caller, sample_id, trial, ordinal, model_key, created,"
                " duration, request, body FROM reply WHERE run_id = ?"
                " ORDER BY spec_key, sample_id, trial, created, ordinal",
                (run_id,),
            )
            for row in rows:
                yield Entry(row[0], CallId(*row[1:6]), *row[6:])
    except sqlite3.Error as error:
        raise unusable(path, error) from None


def _row(entry: Entry, run_id: str) -> tuple[object, ...]:
    key, call, *rest = entry
    return (key, run_id, *call._replace(sample_id=storable(call.sample_id)), *rest)
