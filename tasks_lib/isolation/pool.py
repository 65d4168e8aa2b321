"""The snippets' processes of this process: reused from call to call, replaced when they die."""

import asyncio
import atexit
import os
import queue
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from typing import Any

from tasks_lib import compat
from tasks_lib.errors import SampleError, bounded
from tasks_lib.isolation.process import SnippetProcess
from tasks_lib.isolation.wire import arguments, read_result
from tasks_lib.secrets import redact
from tasks_lib.snippets import Snippet
from tasks_lib.timelimit import Clock
from tasks_lib.trace import SolverTrace

MOST_PROCESSES = max(4, os.cpu_count() or 1)
"""Processes at once: more than cores don't compute faster, and each holds memory of its own."""

Ask = Callable[[Any], Awaitable[Any]]
"""Sends a model input on the model loop and returns the output as plain JSON."""


class Processes:
    """Lends processes; waits while all are lent.

    Args:
        most: how many there may be.
    """

    def __init__(self, most: int) -> None:
        self._slots = threading.Semaphore(most)
        self._idle: list[SnippetProcess] = []
        self._lock = threading.Lock()

    @contextmanager
    def lent(self, memory_mb: int | None) -> Iterator[SnippetProcess]:
        """Lend a process that has this memory limit; one that can't be used again is ended.

        Raises:
            DiedError: none could be started.
        """
        with self._slots:
            process = self._taken(memory_mb) or SnippetProcess(memory_mb)
            done = False
            try:
                yield process
                done = True
            finally:
                if done and process.usable:
                    with self._lock:
                        self._idle.append(process)
                else:
                    process.kill()

    def end(self) -> None:
        """End all that are idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for process in idle:
            process.kill()

    def _taken(self, memory_mb: int | None) -> SnippetProcess | None:
        """Take a fitting idle process; else make room for another."""
        with self._lock:
            for process in self._idle:
                if process.memory_mb == memory_mb:
                    self._idle.remove(process)
                    return process
            unfit = self._idle.pop(0) if len(self._idle) >= MOST_PROCESSES - 1 else None
        if unfit is not None:
            unfit.kill()
        return None


_processes = Processes(MOST_PROCESSES)
atexit.register(lambda: _processes.end())


def _forget() -> None:
    """Start with none: after a fork they are the parent's, and locks may be held for ever."""
    global _processes
    _processes = Processes(MOST_PROCESSES)


os.register_at_fork(after_in_child=_forget)


def call_in_process(
    snippet: Snippet,
    args: tuple[Any, ...],
    seconds: float,
    memory_mb: int | None,
    asking: "Asking | None" = None,
) -> Any:
    """Return what a snippet's function returns, called in a process of its own.

    Args:
        snippet: what is called there; loaded there, not here.
        args: plain JSON, and records at the top or in a list.
        seconds: what the call may take, waiting for a process and for models apart.
        memory_mb: megabytes the process may use.
        asking: answers its model calls; adds a model and an empty trace to `args`.

    Raises:
        SampleError: as the snippet raised it, or because `args` is no JSON.
        TimedOutError: the process was killed.
        DiedError: the process ended by itself.
    """
    call = {
        "source": snippet.source,
        "function": snippet.function,
        "origin": [str(snippet.origin.path), snippet.origin.first_line] if snippet.origin else None,
        "imports": compat.modules_named_in(snippet.source),
        "solves": asking is not None,
    }
    with _processes.lent(memory_mb) as process:
        clock = Clock(seconds) if asking is None else asking.clock
        try:
            process.send({**call, "args": arguments(args, process.mark)}, clock)
        except (TypeError, ValueError, RecursionError) as error:
            raise SampleError("code", f"can't be sent to its process: {error}") from error
        answer = _answer(process, clock, asking)
        failed = answer.get("failed")
        if failed and failed[1].startswith("MemoryError"):
            process.usable = False  # what filled its memory may still be there
    if failed is None:
        return read_result(answer["returned"], process.mark)
    if asking is not None and "trace" in answer:
        asking.trace = SolverTrace.view(answer["trace"])
    kind, problem, where, fix = failed
    raise SampleError(kind, bounded(redact(problem), snippet.message_limit), where, fix)


def _answer(process: SnippetProcess, clock: Clock, asking: "Asking | None") -> dict[str, Any]:
    """Return the end of a call; its model calls are answered until then."""
    while True:
        message = process.receive(clock)
        if asking is not None:
            asking.settle(process)
            if message is not None and "ask" in message:
                asking.ask(process, message["ask"])
                continue
        if message is not None:
            return message


class Asking:
    """Answers the model calls of one call in a process; its clock stands still meanwhile.

    Args:
        ask: sends a model input; awaited on `loop`.
        loop: the model loop.
        clock: what the call has left.

    Attributes:
        trace: what was said before the call failed; None when nobody knows.
    """

    def __init__(self, ask: Ask, loop: asyncio.AbstractEventLoop, clock: Clock) -> None:
        self.clock = clock
        self.trace: SolverTrace | None = None
        self._ask, self._loop = ask, loop
        self._done: queue.SimpleQueue[tuple[int, Future[Any]]] = queue.SimpleQueue()

    def ask(self, process: SnippetProcess, asked: dict[str, Any]) -> None:
        """Begin a model call."""

        async def held() -> Any:
            with self.clock.hold():
                return await self._ask(asked["input"])

        future = asyncio.run_coroutine_threadsafe(held(), self._loop)

        def done(ended: "Future[Any]") -> None:
            self._done.put((asked["number"], ended))
            process.wake()

        future.add_done_callback(done)

    def settle(self, process: SnippetProcess) -> None:
        """Tell the process what came of calls that have ended.

        Raises:
            BaseException: what ends the run, as the model call raised it.
        """
        with suppress(queue.Empty):
            while True:
                number, future = self._done.get_nowait()
                try:
                    reply = {"number": number, "output": future.result()}
                except SampleError as error:
                    reply = {"number": number, "failed": list(error.args)}
                process.send({"reply": reply}, self.clock)
