"""A snippet's process, seen from ours."""

import json
import os
import select
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from secrets import token_hex
from typing import Any

from tasks_lib.isolation.wire import HEADER, framed
from tasks_lib.secrets import known_secrets
from tasks_lib.timelimit import Clock, TimedOutError

START_SECONDS = 60.0
"""Time a process has to start: half a second is usual, but a busy machine starts many at once."""
MAX_ANSWER = 256 << 20
"""Bytes one answer may have; it is held in our memory, whatever the snippet's own limit is."""

_SCRIPT = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from tasks_lib.isolation.worker import main; main()"
)
_CHUNK = 1 << 16


class DiedError(Exception):
    """The process ended before it answered; says how."""


class SnippetProcess:
    """Makes calls in a process of its own, one at a time.

    It is a session of its own, so that Ctrl-C is ours to handle and its children end with it. It
    ends when ours does, however that ends.

    Args:
        memory_mb: megabytes of addresses it may use (RLIMIT_AS; macOS ignores it); None is all.

    Attributes:
        mark: what records are marked with on their way.
        usable: whether it can make another call.

    Raises:
        DiedError: it could not start.
    """

    def __init__(self, memory_mb: int | None) -> None:
        self.memory_mb = memory_mb
        self.mark = f"evalmill {token_hex(8)}"
        self.usable = False
        self._child = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, json.dumps(sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            start_new_session=True,
        )
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        self._write_to, self._read_from = self._child.stdin.fileno(), self._child.stdout.fileno()
        os.set_blocking(self._write_to, False)
        self._wake_reader, self._wake_writer = os.pipe()
        self._received = bytearray()
        self._closed = False
        self._closing = threading.Lock()  # a number of a closed pipe may be another file's soon
        clock = Clock(START_SECONDS)
        try:
            secrets = known_secrets()  # what is printed there must not show them either
            self.send({"memory_mb": memory_mb, "mark": self.mark, "secrets": secrets}, clock)
            self.receive(clock)
        except TimedOutError:
            raise DiedError(f"did not start within {START_SECONDS:.0f} seconds") from None
        self.usable = True

    def send(self, message: dict[str, Any], clock: Clock) -> None:
        """Send a message.

        Raises:
            TypeError, ValueError: it is no JSON; nothing was sent.
            TimedOutError: nobody read it in time; the process was killed.
            DiedError: the process has ended.
        """
        left = memoryview(framed(message))
        poll = select.poll()
        poll.register(self._write_to, select.POLLOUT)
        while left:
            self._wait(poll, clock)
            try:
                left = left[os.write(self._write_to, left[:_CHUNK]) :]
            except BlockingIOError:
                continue
            except OSError:
                raise self._died() from None

    def receive(self, clock: Clock) -> dict[str, Any] | None:
        """Return the next message, or None when `wake` was called meanwhile.

        Raises:
            TimedOutError: none came in time; the process was killed.
            DiedError: the process has ended, or has sent too much.
        """
        poll = select.poll()
        poll.register(self._read_from, select.POLLIN)
        poll.register(self._wake_reader, select.POLLIN)
        while (message := self._whole()) is None:
            ready = self._wait(poll, clock)
            if self._wake_reader in ready:
                os.read(self._wake_reader, _CHUNK)
                return None
            chunk = os.read(self._read_from, 1 << 20)
            if not chunk:
                raise self._died()
            self._received += chunk
        return message

    def wake(self) -> None:
        """Have `receive` return; from any thread."""
        with self._closing:
            if not self._closed:
                os.write(self._wake_writer, b"!")

    def kill(self) -> None:
        """End the process and all it started; may be called twice."""
        self.usable = False
        with self._closing:
            if self._closed:
                return
            self._closed = True
            os.close(self._wake_reader)
            os.close(self._wake_writer)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._child.pid, signal.SIGKILL)
        for stream in (self._child.stdin, self._child.stdout):
            if stream is not None:
                stream.close()
        self._child.wait()

    def _whole(self) -> dict[str, Any] | None:
        """Take a message off what was received, if it is all there."""
        if len(self._received) < HEADER:
            return None
        size = int.from_bytes(self._received[:HEADER])
        if size > MAX_ANSWER:
            self.kill()
            raise DiedError(f"sent {size:,} bytes, more than the {MAX_ANSWER:,} allowed")
        if len(self._received) < HEADER + size:
            return None
        message: dict[str, Any] = json.loads(self._received[HEADER : HEADER + size])
        del self._received[: HEADER + size]
        return message

    def _wait(self, poll: "select.poll", clock: Clock) -> set[int]:
        while (left := clock.left()) > 0:
            if ready := poll.poll(left * 1000):
                return {descriptor for descriptor, _ in ready}
        self.kill()
        raise TimedOutError

    def _died(self) -> DiedError:
        with suppress(subprocess.TimeoutExpired):
            self._child.wait(5)
        code = self._child.returncode
        self.kill()
        if code is None:
            return DiedError("closed its pipes")
        if code >= 0:
            return DiedError(f"ended with exit code {code}")
        return DiedError(f"was ended by {signal.Signals(-code).name}")
