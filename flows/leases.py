"""Leases of a global concurrency limit of Prefect.

Each batch takes a share of the limit's slots before its first call, makes no more calls at a
time than it has slots, and hands them back at its end: a lease a batch, not one a call. On a
busy machine a lease costs 3 ms of CPU here and 70 ms of waiting (`python -m tests.benchmarks
global_limit`), which in a batch of 200 is a third of a millisecond a call.

Prefect wakes nobody who waits, and its own `concurrency()` waits as long as the server
advises, ten seconds and more; here one batch at a time looks twice a second. What a killed
worker held is free again after `LEASE_SECONDS`, when the server has looked.
"""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from functools import partial
from math import ceil
from typing import TypeVar
from uuid import UUID

import httpx
from prefect.client.orchestration import get_client

from flows.client import connected

T = TypeVar("T")

LEASE_SECONDS = 60.0
_LOOK_SECONDS = 0.5
_LOCKED = 423


class GlobalLeases:
    """Leases of one global concurrency limit.

    Args:
        name: of the limit.
        api_url: where its server is.
        slots: calls at a time that it allows.
        batches: batches in work at a time here, which share what one would want alone.
        warn: told when the server can't be asked any more; batches then take their share
            without a lease.
    """

    def __init__(
        self, name: str, api_url: str, slots: int, batches: int, warn: Callable[[str], None]
    ) -> None:
        self._name = name
        self._slots = max(1, slots)
        self._batches = batches
        self._warn = warn
        self._turn = threading.Lock()  # one batch asks, the others wait for it
        self._open = ExitStack()
        with connected(api_url):  # making settings and a client takes 50 ms: once is enough
            self._client = self._open.enter_context(get_client(sync_client=True))
            self._context = copy_context()

    @contextmanager
    def hold(self, calls: int, check: Callable[[], None]) -> Iterator[int]:
        """Take a batch's share of slots, keep it alive, and hand it back."""
        share = min(self._slots, max(1, ceil(calls / self._batches)))
        lease = self._taken(share, check)
        if lease is None:
            yield share
            return
        done = threading.Event()
        keeper = threading.Thread(target=self._renew, args=(lease, done), daemon=True)
        keeper.start()
        try:
            yield share
        finally:
            done.set()
            keeper.join()
            with suppress(httpx.HTTPError, RuntimeError):  # closed by a run that broke off
                self._ask(partial(self._client.release_concurrency_slots_with_lease, lease))

    def close(self) -> None:
        """Let go of the connection; leases still held end by themselves."""
        self._open.close()

    def _taken(self, slots: int, check: Callable[[], None]) -> UUID | None:
        """Wait for so many slots; None when the server can't be asked."""
        pause = threading.Event()
        try:
            with self._turn:
                while (lease := self._asked_for(slots)) is None:
                    check()
                    pause.wait(_LOOK_SECONDS)
                return lease
        except httpx.HTTPError as error:
            self._warn(f"the global limit '{self._name}' can't be kept to: {error!r}")
            return None

    def _asked_for(self, slots: int) -> UUID | None:
        """Ask for slots once; None when they are not free."""
        take = self._client.increment_concurrency_slots_with_lease
        try:
            reply = self._ask(partial(take, [self._name], slots, "concurrency", LEASE_SECONDS))
        except httpx.HTTPStatusError as error:
            if error.response.status_code == _LOCKED:
                return None
            raise
        return UUID(reply.json()["lease_id"])

    def _renew(self, lease: UUID, done: threading.Event) -> None:
        """Keep a lease alive until its batch is done."""
        while not done.wait(LEASE_SECONDS / 3):
            with suppress(httpx.HTTPError, RuntimeError):
                self._ask(partial(self._client.renew_concurrency_lease, lease, LEASE_SECONDS))

    def _ask(self, request: Callable[[], T]) -> T:
        """Make a request with the settings of our API, from any thread."""
        return self._context.copy().run(request)
