"""The background process that is the local server: `python -m flows.server.process HOME`."""

import asyncio
import os
import shutil
import socket
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import closing
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from flows.server.home import LOOPBACK, ServerHome, ServerInfo, this_host
from flows.server.settings import server_settings

IDLE_SECONDS = float(os.environ.get("EVALMILL_SERVER_IDLE_SECONDS", "3600"))
USUAL_PORT = 4270

AsgiApp = Callable[
    [MutableMapping[str, Any], Callable[[], Awaitable[Any]], Callable[[Any], Awaitable[None]]],
    Awaitable[None],
]


class Activity:
    """An ASGI application that passes everything on and knows for how long nobody asked.

    A flow's run and an open page keep a websocket, a worker polls; while there is any of them
    the server is not idle.
    """

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._open = 0
        self._last = time.monotonic()

    async def __call__(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        self._open += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open -= 1
            self._last = time.monotonic()

    def idle_seconds(self) -> float:
        """Return the seconds since the last request ended; 0 while one is open."""
        return 0.0 if self._open else time.monotonic() - self._last


class Database:
    """The server's SQLite database, migrated once for each version of Prefect.

    A database just migrated, with no run in it, is kept as a template: a new one is copied
    from it in no time, where the migrations take about five seconds.
    """

    def __init__(self, prefect_home: Path, prefect: str) -> None:
        self._file = prefect_home / "prefect.db"
        self._template = prefect_home / f"template-{prefect}.db"
        self._mark = prefect_home / "migrated-for"
        self._prefect = prefect
        if self._file.exists() and not self._is_readable():
            self._file.replace(self._file.with_suffix(".broken"))
        self._is_new = not self._file.exists()

    def _is_readable(self) -> bool:
        """Return whether the file is a database at all."""
        try:
            with closing(sqlite3.connect(self._file)) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master")
        except sqlite3.DatabaseError:
            return False
        return True

    def prepare(self) -> bool:
        """Return whether Prefect must migrate; makes a new database from the template."""
        if self._is_new and self._template.exists():
            temporary = self._file.with_suffix(".tmp")
            shutil.copyfile(self._template, temporary)
            temporary.replace(self._file)
            self._is_new = False
            self._mark.write_text(self._prefect, encoding="utf-8")
        if self._is_new or not self._mark.exists():
            return True
        return self._mark.read_text(encoding="utf-8") != self._prefect

    def migrated(self) -> None:
        """Note that the database is up to date, and keep a new one as the template."""
        if self._is_new:
            temporary = self._template.with_suffix(".tmp")
            with (
                closing(sqlite3.connect(self._file)) as source,
                closing(sqlite3.connect(temporary)) as target,
            ):
                source.backup(target)
            temporary.replace(self._template)
        self._mark.write_text(self._prefect, encoding="utf-8")


def main() -> None:
    """Detach, serve until told to stop or idle for an hour."""
    home = ServerHome(Path(sys.argv[1]))
    lock = home.take()
    if lock is None:
        return  # another process was faster; whoever started this one finds that server
    if os.fork():
        os._exit(0)  # the child keeps the lock; its starter need not reap it
    # the lock is let go of by the end of the process, when its last words are in the log
    with _listen(home) as listener:
        port = listener.getsockname()[1]
        prefect = version("prefect")
        database = Database(home.prefect_home, prefect)
        migrate = database.prepare()
        os.environ.update(server_settings(home.prefect_home, port, migrate))
        os.chdir(home.folder)

        def announce() -> None:
            if migrate:
                database.migrated()
            started = datetime.now(UTC).isoformat(timespec="seconds")
            home.announce(ServerInfo(os.getpid(), port, this_host(), started, prefect))

        asyncio.run(_serve(listener, announce))
        home.record.unlink(missing_ok=True)


def _listen(home: ServerHome) -> socket.socket:
    """Return a socket that listens on loopback, if possible at the port of the last server."""
    try:
        usual = int((home.prefect_home / "port").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        usual = USUAL_PORT
    try:
        listener = socket.create_server((LOOPBACK, usual))
    except OSError:
        listener = socket.create_server((LOOPBACK, 0))
    port = listener.getsockname()[1]
    (home.prefect_home / "port").write_text(str(port), encoding="utf-8")
    return listener


async def _serve(listener: socket.socket, announce: Callable[[], None]) -> None:
    """Serve on `listener`; call `announce` once requests are answered."""
    import uvicorn  # Prefect's server reads its settings from the environment at import
    from prefect.server.api.server import create_app

    activity = Activity(create_app(final=True))
    config = uvicorn.Config(
        activity,
        log_level="warning",
        lifespan="on",
        timeout_keep_alive=30,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve(sockets=[listener]))
    while not server.started and not serving.done():
        await asyncio.sleep(0.02)
    if server.started:
        announce()
    while not serving.done():
        await asyncio.wait({serving}, timeout=min(30.0, IDLE_SECONDS / 10))
        if activity.idle_seconds() > IDLE_SECONDS:
            server.should_exit = True
    await serving


if __name__ == "__main__":
    main()
