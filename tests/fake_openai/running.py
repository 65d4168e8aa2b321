"""Running the server in a thread of this process, or in a process of its own."""

import asyncio
import contextlib
import json
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.fake_openai.app import FakeOpenAI
from tests.fake_openai.config import Config, Json


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A server somewhere on this machine: a thread of this process, or another process."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Root address, for /stats and /reset."""
        return f"http://{self.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """What an OpenAI client wants as its `base_url`."""
        return self.url + "/v1"

    def stats(self) -> dict[str, Json]:
        """The server's counters."""
        return self._ask("GET", "/stats", None)

    def reset(self, **changes: Json) -> dict[str, Json]:
        """Zero the counters and change fields of `Config`; return the old counters."""
        return self._ask("POST", "/reset", changes)

    def renew(self) -> None:
        """Make counters and options as of a server that just started."""
        self.reset(**asdict(Config()))

    def _ask(self, method: str, path: str, body: Json) -> dict[str, Json]:
        data = None if body is None else json.dumps(body).encode()
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(self.url + path, data, headers, method=method)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(request, timeout=10) as reply:
            answer: dict[str, Json] = json.load(reply)
        return answer


@contextlib.contextmanager
def serve_in_thread(config: Config | None = None, port: int = 0) -> Iterator[RunningServer]:
    """Serve from a thread while the block runs; a benchmark starts a process instead."""
    loop = asyncio.new_event_loop()
    app = FakeOpenAI(config)
    server = loop.run_until_complete(app.start(port=port))
    host, bound = server.sockets[0].getsockname()[:2]
    thread = threading.Thread(target=loop.run_forever, name="fake-openai", daemon=True)
    thread.start()
    try:
        yield RunningServer(host, bound)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        server.close()
        for transport in app.transports:
            transport.abort()
        loop.run_until_complete(asyncio.sleep(0))  # let them close
        loop.close()


@contextlib.contextmanager
def serve_in_process(config: Config | None = None) -> Iterator[RunningServer]:
    """Serve from a process of its own while the block runs."""
    options = [
        f"--{name.replace('_', '-')}={value}" for name, value in asdict(config or Config()).items()
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "tests.fake_openai", "--port=0", *options],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            address = urlsplit(process.stdout.readline().removeprefix("listening on "))
            assert address.hostname is not None, "the fake model server did not start"
            assert address.port is not None
            yield RunningServer(address.hostname, address.port)
        finally:
            process.terminate()
