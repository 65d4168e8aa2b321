"""What every member that runs an author's function has: a time limit, and a place to run."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, model_validator

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.isolation import Asking, DiedError, call_in_process
from tasks_lib.snippets import Snippet, load_snippet
from tasks_lib.timelimit import (
    MOST_STUCK,
    Clock,
    StuckError,
    TimedOutError,
    each_within,
    within,
    within_async,
)

A = TypeVar("A")
T = TypeVar("T")

MAX_TIMEOUT = 7 * 86_400.0
"""Seconds a time limit may be: a week, so that even a careless one ends some day."""
DEFAULT_MEMORY_MB = 4096
"""Megabytes a process may use when nobody says: enough for pandas or a small model, and less than
what would stall most machines."""
MIN_MEMORY_MB = 256
"""Megabytes a process needs to start: the interpreter and evalmill's own code use half of it."""
CORES = os.cpu_count() or 1

Seconds = Annotated[float, Field(gt=0, le=MAX_TIMEOUT)]


class SnippetMember(Definition):
    """Runs an author's function within limits.

    In a thread, code that hangs is given up: its row is an error, and the thread is left to
    itself, since Python can't end one. Code that never gives the interpreter back (a regular
    expression that back-tracks for ever), uses up the memory or ends the process needs
    `isolation: process`, where it is killed and costs its own row alone.
    """

    timeout: Seconds = 60.0
    """Seconds one call of the function may take; then its row is an error of class `code`."""
    isolation: Literal["thread", "process"] = "thread"
    """`process` runs the function in a process of its own, which is reused from row to row and
    replaced when it hangs, crashes or runs out of memory; a row costs half a millisecond more.
    What the function gets and returns must be JSON."""
    memory_limit_mb: Annotated[int, Field(ge=MIN_MEMORY_MB)] | None = None
    """Megabytes of address space that a process of its own may use, 4096 when left out (macOS
    sets no such limit)."""

    @model_validator(mode="after")
    def _memory_is_a_process_s(self) -> Self:
        if self.memory_limit_mb is not None and self.isolation != "process":
            raise ValueError("'memory_limit_mb' needs 'isolation: process'")
        return self

    def call(self, source: str, function: str, *args: Any) -> Any:
        """Return what a snippet's function returns, within the limits; blocks meanwhile.

        Raises:
            SampleError: it failed, or was given up.
        """
        snippet = load_snippet(source, function)
        if self.isolation == "process":
            return self._isolated(snippet, args)
        try:
            return within(self.timeout, lambda: snippet(*args))
        except (TimedOutError, StuckError) as error:
            raise self._given_up(snippet, error) from None

    async def call_async(
        self, source: str, function: str, *args: Any, clock: Clock | None = None
    ) -> Any:
        """Do what `call` does, without blocking the loop.

        Args:
            source: the snippet.
            function: its function.
            args: of the function.
            clock: the time it has, when that stands still now and then.

        Raises:
            SampleError: as `call`.
        """
        snippet = load_snippet(source, function)
        if self.isolation == "process":
            return await self.isolated_async(snippet, args)
        try:
            return await within_async(clock or Clock(self.timeout), lambda: snippet(*args))
        except (TimedOutError, StuckError) as error:
            raise self._given_up(snippet, error) from None

    async def isolated_async(
        self, snippet: Snippet, args: tuple[Any, ...], asking: Asking | None = None
    ) -> Any:
        """Return what a function returns, called in a process, without blocking the loop.

        Args:
            snippet: what is called.
            args: of the function.
            asking: answers its model calls, if it makes any.

        Raises:
            SampleError: as `call`.
        """
        waiting = Clock(MAX_TIMEOUT)  # for a process; the call has a limit of its own
        return await within_async(waiting, lambda: self._isolated(snippet, args, asking))

    def call_each(
        self,
        source: str,
        function: str,
        items: Sequence[A],
        work: Callable[[Callable[..., Any], A], T],
        failed: Callable[[SampleError], T],
    ) -> list[T]:
        """Return what `work` makes of every item, each within the limits.

        Args:
            source: the snippet.
            function: its function.
            items: what to work on.
            work: gets the function and an item; what it raises ends all.
            failed: stands for the result of an item that was given up in its thread.
        """
        snippet = load_snippet(source, function)
        if self.isolation == "process" and items:
            with ThreadPoolExecutor(min(CORES, len(items))) as threads:
                return list(
                    threads.map(
                        lambda item: work(lambda *args: self._isolated(snippet, args), item), items
                    )
                )
        return each_within(
            self.timeout,
            items,
            lambda item: work(snippet, item),
            lambda error: failed(self._given_up(snippet, error)),
        )

    def _isolated(
        self, snippet: Snippet, args: tuple[Any, ...], asking: Asking | None = None
    ) -> Any:
        try:
            memory_mb = self.memory_limit_mb or DEFAULT_MEMORY_MB
            return call_in_process(snippet, args, self.timeout, memory_mb, asking)
        except TimedOutError as error:
            raise self._given_up(snippet, error) from None
        except DiedError as error:
            raise SampleError(
                "code", f"{snippet.function}: its process {error}", snippet.place
            ) from None

    def _given_up(self, snippet: Snippet, error: TimedOutError | StuckError) -> SampleError:
        if isinstance(error, TimedOutError):
            problem = f"{snippet.function} took longer than {self.timeout:g} seconds"
            return SampleError("code", problem, snippet.place, "raise its 'timeout', or mend it")
        problem = f"{snippet.function} was not called: {MOST_STUCK} earlier calls never ended"
        return SampleError("code", problem, snippet.place, "set 'isolation: process', or mend it")
