"""A server that answers requests with prepared bytes, for what no well-behaved one sends."""

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson


def http(status: int, body: bytes | str | dict[str, Any] = b"", **headers: str) -> bytes:
    """Return a whole HTTP response; underscores in header names stand for dashes."""
    if isinstance(body, dict):
        body = orjson.dumps(body)
    if isinstance(body, str):
        body = body.encode()
    headers = {"content_length": str(len(body)), "content_type": "application/json", **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Whatever\r\n{lines}\r\n".encode("latin-1") + body


def chat(content: str | None, finish_reason: str | None = "stop", **message: Any) -> bytes:
    """Return the response of a chat completion."""
    return http(200, chat_json(content, finish_reason, **message))


def chat_json(content: Any, finish_reason: str | None = "stop", **message: Any) -> dict[str, Any]:
    """Return the body of a chat completion."""
    said = {"role": "assistant", "content": content, **message}
    return {"choices": [{"message": said, "finish_reason": finish_reason}]}


@dataclass
class Request:
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return orjson.loads(self.body)


Response = bytes | Callable[[Request], bytes]


@dataclass
class Wire:
    """The server's script and what it received; the last response is given again and again."""

    responses: list[Response]
    host: str = ""
    requests: list[Request] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)
    clock: Callable[[], float] = lambda: 0.0

    @property
    def url(self) -> str:
        return f"http://{self.host}/v1"

    def answer(self, request: Request) -> bytes:
        self.arrived.append(self.clock())
        self.requests.append(request)
        response = self.responses[min(len(self.requests), len(self.responses)) - 1]
        return response(request) if callable(response) else response


@contextmanager
def serving(*responses: Response) -> Iterator[Wire]:
    """Serve these responses, one a request, in a thread while the block runs."""
    wire = Wire(list(responses))

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while line := self.rfile.readline():
                path = line.split()[1].decode()
                headers = {}
                while (header := self.rfile.readline().strip()) != b"":
                    name, _, value = header.decode("latin-1").partition(":")
                    headers[name.lower()] = value.strip()
                body = self.rfile.read(int(headers.get("content-length", 0)))
                response = wire.answer(Request(path, headers, body))
                self.wfile.write(response)
                if b"connection: close" in response:
                    return

    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True
        block_on_close = False

    with Server(("127.0.0.1", 0), Handler) as server:
        wire.host = f"127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield wire
        finally:
            server.shutdown()
            thread.join()
