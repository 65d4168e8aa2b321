"""One client connection: HTTP/1.1 with keep-alive and pipelining."""

import asyncio
import socket
import struct
import time
from typing import Final, Protocol, cast

from tests.fake_openai.stats import Stats
from tests.fake_openai.wire import MAX_BODY, Reply, Then, dechunk, error

_MAX_HEAD: Final = 64 * 1024


class App(Protocol):
    """What a connection needs of the server."""

    stats: Stats
    loop: asyncio.AbstractEventLoop
    transports: set[asyncio.Transport]

    def answer(self, method: bytes, target: bytes, body: bytes) -> tuple[Reply, float]:
        """The reply to one request and the seconds to wait before it."""


class _Refused(Exception):
    """The client speaks no HTTP that we understand."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


class Connection(asyncio.Protocol):
    """Reads requests from one client and answers them one after another."""

    __slots__ = ("app", "buffer", "close_after", "closed", "timer", "transport")

    def __init__(self, app: App) -> None:
        self.app = app
        self.transport: asyncio.Transport
        self.buffer = b""
        self.timer: asyncio.TimerHandle | None = None  # set while a reply is due
        self.close_after = False
        self.closed = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.app.transports.add(self.transport)
        stats = self.app.stats
        stats.connections += 1
        stats.connections_opened += 1
        stats.max_connections = max(stats.max_connections, stats.connections)

    def connection_lost(self, exc: Exception | None) -> None:
        self.closed = True
        self.app.transports.discard(self.transport)
        self.app.stats.connections -= 1
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
            self.app.stats.in_flight -= 1
            self.app.stats.client_aborts += 1

    def data_received(self, data: bytes) -> None:
        if self.buffer:
            data = self.buffer + data
        if self.timer is not None:  # a reply is due first
            self.buffer = data
            return
        while data:
            try:
                used = self._take(data)
            except _Refused as refused:
                self.transport.write(error(refused.status, refused.message).payload)
                self._close()
                break
            if used == 0:
                break
            data = data[used:]
            if self.timer is not None or self.closed:
                break
        self.buffer = b"" if self.closed else data

    def _take(self, data: bytes) -> int:
        """Answer the request that `data` starts with; 0 when it is not all there."""
        end = data.find(b"\r\n\r\n")
        if end < 0:
            if len(data) > _MAX_HEAD:
                raise _Refused(400, "the header is too long")
            return 0
        line, _, _ = data[:end].partition(b"\r\n")
        try:
            method, target, version = line.split(b" ")
        except ValueError:
            raise _Refused(400, "bad request line") from None
        fields = data[:end].lower()
        message = self._body(data, fields, end + 4)
        if message is None:
            return 0
        body, used = message
        if b"\r\nconnection: close" in fields or (
            version == b"HTTP/1.0" and b"\r\nconnection: keep-alive" not in fields
        ):
            self.close_after = True
        self._answer(method, target, body)
        return used

    def _body(self, data: bytes, fields: bytes, start: int) -> tuple[bytes, int] | None:
        """A request's body and where it ends; None when it is not all there."""
        at = fields.find(b"\r\ncontent-length:")
        if at >= 0:
            stop = fields.find(b"\r\n", at + 17)
            try:
                length = int(fields[at + 17 :] if stop < 0 else fields[at + 17 : stop])
            except ValueError:
                raise _Refused(400, "bad content-length") from None
            if not 0 <= length <= MAX_BODY:
                raise _Refused(413, "the body is too long")
            used = start + length
            if len(data) < used:
                if b"\r\nexpect: 100-continue" in fields and len(data) == start:
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                return None
            return data[start:used], used
        if b"\r\ntransfer-encoding: chunked" in fields:
            try:
                return dechunk(data, start)
            except ValueError:
                raise _Refused(400, "bad chunk") from None
        return b"", start

    def _answer(self, method: bytes, target: bytes, body: bytes) -> None:
        reply, delay = self.app.answer(method, target, body)
        stats = self.app.stats  # not before: /reset replaces it
        stats.in_flight += 1
        if stats.in_flight > stats.max_in_flight and target.startswith(b"/v1/"):
            stats.max_in_flight = stats.in_flight
        if delay > 0:
            self.timer = self.app.loop.call_later(delay, self._due, reply, target)
        else:
            self._send(reply, target)

    def _due(self, reply: Reply, target: bytes) -> None:
        self.timer = None
        self._send(reply, target)
        if self.buffer and not self.closed:
            data, self.buffer = self.buffer, b""
            self.data_received(data)

    def _send(self, reply: Reply, target: bytes) -> None:
        stats = self.app.stats
        stats.in_flight -= 1
        if target.startswith(b"/v1/"):
            stats.statuses[reply.status] += 1
            stats.last_reply_at = time.time()
        if reply.payload:
            self.transport.write(reply.payload)
        if reply.then is Then.RESET:
            linger = struct.pack("ii", 1, 0)
            sock = self.transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.closed = True
            self.transport.abort()
        elif reply.then in (Then.CLOSE, Then.HANG) or self.close_after:
            self._close()

    def _close(self) -> None:
        self.closed = True
        self.transport.close()
