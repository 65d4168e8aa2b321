"""The process that runs snippets: one call at a time, until its starter is gone."""

import asyncio
import importlib
import json
import os
import queue
import sys
import threading
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO

from tasks_lib.compat.authors_model import AuthorsModel
from tasks_lib.errors import EvalmillError, SampleError, bounded
from tasks_lib.isolation.wire import HEADER, framed, read_arguments, result
from tasks_lib.secrets import remember
from tasks_lib.snippets import Snippet, load_snippet, remember_origin
from tasks_lib.streams import make_safe
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.plain import raw_of

_MIB = 1 << 20
_MESSAGE_LIMIT = 20_000  # the starter cuts it, once it has taken out the secrets it knows
_UNFIT = 70  # exit code of a worker that can't go on


def main() -> None:
    """Serve calls that come on the standard input, answer on the standard output.

    What snippets print goes to the standard error, and they have no standard input.
    """
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    make_safe()
    sys.stdout = sys.stderr
    settings = _read(incoming)
    for secret in settings["secrets"]:
        remember(secret)
    _limit(settings["memory_mb"])
    Snippet.message_limit = _MESSAGE_LIMIT
    _Worker(incoming, outgoing, settings["mark"]).serve()


def _limit(memory_mb: int | None) -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0}  # a dump of the memory would hold the environment's keys
    if memory_mb is not None:
        limits[resource.RLIMIT_AS] = memory_mb * _MIB
    for kind, limit in limits.items():
        with suppress(ValueError, OSError):  # macOS takes no limit of addresses
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(kind, (limit, hard))


def _read(stream: BinaryIO) -> Any:
    header = stream.read(HEADER)
    if len(header) < HEADER:
        os._exit(0)  # the starter is gone
    return json.loads(stream.read(int.from_bytes(header)))


class _Worker:
    """Runs calls in the main thread; another reads, so that the starter's end is noticed."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, mark: str) -> None:
        self._incoming, self._outgoing, self._mark = incoming, outgoing, mark
        self._calls: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        self._writing = threading.Lock()
        self._asked: dict[int, tuple[asyncio.AbstractEventLoop, asyncio.Future[Any]]] = {}
        self._numbers = count()

    def serve(self) -> None:
        threading.Thread(target=self._listen, daemon=True).start()
        self._write(framed({"ready": True}))
        while True:
            self._write(self._answer(self._calls.get()))

    def _listen(self) -> None:
        try:
            while True:
                message = _read(self._incoming)
                if "reply" in message:
                    self._settle(message["reply"])
                else:
                    self._calls.put(message)
        except BaseException:
            os._exit(_UNFIT)

    def _write(self, frame: bytes) -> None:
        with self._writing:
            self._outgoing.write(frame)
            self._outgoing.flush()

    def _answer(self, call: dict[str, Any]) -> bytes:
        trace = SolverTrace() if call["solves"] else None
        try:
            if call["origin"]:
                path, line = call["origin"]
                remember_origin(call["source"], Path(path), line)
            for module in call["imports"]:
                importlib.import_module(module)
            args = read_arguments(call["args"], self._mark)
            if trace is not None:
                args += [AuthorsModel(self._ask), trace]
            returned = load_snippet(call["source"], call["function"])(*args)
            return framed({"returned": result(returned, self._mark)})
        except EvalmillError as error:
            failed = error
        except BaseException as error:
            failed = SampleError(
                "code", bounded(f"{type(error).__name__}: {error}", _MESSAGE_LIMIT)
            )
        kind = failed.error_class if isinstance(failed, SampleError) else "code"
        told = [kind, failed.problem, failed.where, failed.fix]
        with suppress(Exception):  # a trace may hold what is no JSON
            if trace is not None:
                return framed({"failed": told, "trace": raw_of(trace)})
        return framed({"failed": told})

    async def _ask(self, model_input: Any) -> Any:
        loop, number = asyncio.get_running_loop(), next(self._numbers)
        future = loop.create_future()
        self._asked[number] = loop, future
        self._write(framed({"ask": {"number": number, "input": model_input}}))
        return await future

    def _settle(self, reply: dict[str, Any]) -> None:
        loop, future = self._asked.pop(reply["number"])

        def settle() -> None:
            if future.done():
                return
            if "failed" in reply:
                future.set_exception(SampleError(*reply["failed"]))
            else:
                future.set_result(reply["output"])

        with suppress(RuntimeError):  # its loop has closed: nobody waits for the reply
            loop.call_soon_threadsafe(settle)
