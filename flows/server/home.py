"""The folder of the local server: what is in it, and who holds it.

`$EVALMILL_HOME`, else `~/.evalmill`:
    server.json   where the running server answers; written when it is ready
    server.lock   held by the server's process for as long as it lives
    server.log    what it had to say
    prefect/      its PREFECT_HOME: database, and the migrated template of it
"""

import fcntl
import json
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from tasks_lib.home import evalmill_home

LOOPBACK = "127.0.0.1"


@dataclass(frozen=True)
class ServerInfo:
    """A server that announced itself.

    Attributes:
        pid: its process.
        port: its port on loopback.
        host: name of the machine it runs on; a home may be shared between machines.
        started: when it began to serve, ISO 8601 in UTC.
        prefect: version of Prefect it runs.
    """

    pid: int
    port: int
    host: str
    started: str
    prefect: str

    @property
    def url(self) -> str:
        """Base of the API, fit for `PREFECT_API_URL`."""
        return f"http://{LOOPBACK}:{self.port}/api"

    @property
    def ui_url(self) -> str:
        """Where a browser finds the UI."""
        return f"http://{LOOPBACK}:{self.port}"


@dataclass(frozen=True)
class ServerHome:
    """The folder of one local server."""

    folder: Path

    @classmethod
    def default(cls) -> "ServerHome":
        """Return the home named by `$EVALMILL_HOME`, else `~/.evalmill`."""
        return cls(evalmill_home())

    @property
    def record(self) -> Path:
        """File that says where the running server answers."""
        return self.folder / "server.json"

    @property
    def log(self) -> Path:
        """File that holds what the server printed."""
        return self.folder / "server.log"

    @property
    def prefect_home(self) -> Path:
        """The server's `PREFECT_HOME`."""
        return self.folder / "prefect"

    def take(self) -> IO[bytes] | None:
        """Take the lock of this home, held until the returned file is closed.

        Returns:
            None when another process holds it.

        Raises:
            OSError: the folder can't be written.
        """
        self.prefect_home.mkdir(parents=True, exist_ok=True)
        lock = (self.folder / "server.lock").open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            return None
        return lock

    def is_held(self) -> bool:
        """Return whether a server process is alive: starting, serving or stopping."""
        if not (self.folder / "server.lock").exists():
            return False
        lock = self.take()
        if lock is None:
            return True
        lock.close()
        return False

    def announced(self) -> ServerInfo | None:
        """Return what the last server wrote about itself; it may be gone by now."""
        try:
            written = json.loads(self.record.read_text(encoding="utf-8"))
            return ServerInfo(**{key: written[key] for key in ServerInfo.__dataclass_fields__})
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def announce(self, info: ServerInfo) -> None:
        """Write where the server answers, whole or not at all."""
        temporary = self.record.with_suffix(".tmp")
        temporary.write_text(json.dumps(asdict(info) | {"url": info.url}) + "\n", encoding="utf-8")
        temporary.replace(self.record)


def this_host() -> str:
    """Return the name by which this machine signs server.json."""
    return socket.gethostname()
