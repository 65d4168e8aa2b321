"""Bytes on the wire: HTTP responses, event streams, chunked bodies."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

MAX_BODY: Final = 64 * 1024 * 1024

_REASONS: Final[Mapping[int, bytes]] = {
    200: b"OK",
    400: b"Bad Request",
    401: b"Unauthorized",
    402: b"Payment Required",
    403: b"Forbidden",
    404: b"Not Found",
    405: b"Method Not Allowed",
    413: b"Content Too Large",
    429: b"Too Many Requests",
    500: b"Internal Server Error",
    503: b"Service Unavailable",
}


class Then(Enum):
    """What happens to the connection after a reply."""

    KEEP = auto()
    CLOSE = auto()
    RESET = auto()
    HANG = auto()


@dataclass(slots=True)
class Reply:
    """Bytes to write and what happens to the connection then."""

    payload: bytes
    status: str
    then: Then = Then.KEEP


def http(status: int, body: bytes, headers: str = "") -> bytes:
    """A whole HTTP response with a JSON body."""
    return b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%b\r\n%b" % (
        status,
        _REASONS[status],
        len(body),
        headers.encode(),
        body,
    )


def http_stream(events: Iterator[bytes], headers: str = "") -> bytes:
    """A whole HTTP response whose body is a chunked event stream."""
    chunks = b"".join(b"%x\r\n%b\r\n" % (len(event), event) for event in events)
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\n"
    return f"{head}transfer-encoding: chunked\r\n{headers}\r\n".encode() + chunks + b"0\r\n\r\n"


def error(status: int, message: str, kind: str = "invalid_request_error") -> Reply:
    """A reply with an error body in OpenAI's form."""
    return Reply(http(status, error_body(message, kind)), str(status))


def error_body(message: str, kind: str, code: str | None = None) -> bytes:
    """An error body in OpenAI's form."""
    fields = {"message": message, "type": kind, "param": None, "code": code}
    return json.dumps({"error": fields}).encode()


def pieces(text: str) -> list[str]:
    """Text in stream-sized pieces that join to it again."""
    return re.findall(r"\s*\S+\s*$|\s*\S+|\s+", text)


def dechunk(data: bytes, at: int) -> tuple[bytes, int] | None:
    """Body and end of a chunked message that starts at `at`; None if incomplete.

    Raises:
        ValueError: a chunk's size is unreadable or too large.
    """
    parts: list[bytes] = []
    while True:
        line = data.find(b"\r\n", at)
        if line < 0:
            return None
        size = int(data[at:line].partition(b";")[0], 16)
        if size < 0 or size > MAX_BODY:
            raise ValueError("bad chunk size")
        at = line + 2
        if size == 0:
            end = data.find(b"\r\n", at)  # no trailers are expected
            return None if end < 0 else (b"".join(parts), end + 2)
        if len(data) < at + size + 2:
            return None
        parts.append(data[at : at + size])
        at += size + 2
