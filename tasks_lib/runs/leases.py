"""The right to make calls, where it is handed out by someone outside this machine."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol


class Leases(Protocol):
    """Hands out the right to make so many calls at a time, a batch at a time."""

    def hold(self, calls: int, check: Callable[[], None]) -> AbstractContextManager[int]:
        """Wait for the right, give how many calls it covers, and hand it back at the end.

        Args:
            calls: how many are wanted; it may cover fewer, never none.
            check: called while waiting; what it raises ends the waiting.
        """

    def close(self) -> None:
        """Let go of whoever hands them out; what is still held ends by itself."""


class Unlimited:
    """Gives everybody what they want, at once."""

    def hold(self, calls: int, check: Callable[[], None]) -> AbstractContextManager[int]:
        """Give all the calls that are wanted."""
        return nullcontext(calls)

    def close(self) -> None:
        """Do nothing."""
