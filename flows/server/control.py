"""Find, start and stop the local server."""

import http.client
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

from flows.server.home import ServerHome, ServerInfo, this_host
from tasks_lib.errors import EvalmillError, bounded

START_SECONDS = 90.0
STOP_SECONDS = 10.0
_POLL_SECONDS = 0.1


class ServerUnavailable(EvalmillError):
    """No Prefect server can be had; says why."""


def ensure_server(timeout: float = START_SECONDS, home: ServerHome | None = None) -> ServerInfo:
    """Return the local server, started when there is none.

    Safe to call from several processes at once: they end up with the same server. The server
    outlives this process.

    Args:
        timeout: seconds it may take until the server answers.
        home: folder of the server; the default one when None.

    Raises:
        ServerUnavailable: it can't be had, with the reason.
    """
    home = home or ServerHome.default()
    deadline = time.monotonic() + timeout
    try:
        while True:
            if not home.is_held():
                _spawn(home)
            info = _wait_until_it_answers(home, deadline)
            if info is not None:
                return info
    except OSError as error:
        raise ServerUnavailable(
            f"the folder of the local Prefect server can't be used: {error}",
            str(home.folder),
            "set EVALMILL_HOME to a folder you can write, or PREFECT_API_URL to a server",
        ) from error


def server_status(home: ServerHome | None = None) -> ServerInfo | None:
    """Return the local server when it is up and answers, None otherwise."""
    home = home or ServerHome.default()
    info = home.announced()
    if info is None or info.host != this_host() or not is_healthy(info.url):
        return None
    return info


def stop_server(home: ServerHome | None = None) -> bool:
    """Stop the local server and wait until it is gone.

    Returns:
        False when none was running.

    Raises:
        ServerUnavailable: it is just starting, or runs on another machine that shares this home.
    """
    home = home or ServerHome.default()
    if not home.is_held():
        return False
    info = home.announced()
    if info is None:
        raise ServerUnavailable(
            "the local Prefect server is just starting", str(home.folder), "try again in a while"
        )
    _refuse_other_host(home, info)
    _signal(info.pid, signal.SIGTERM)
    if not _wait_until_gone(home):
        _signal(info.pid, signal.SIGKILL)
        _wait_until_gone(home)
    home.record.unlink(missing_ok=True)
    return True


def is_healthy(api_url: str, timeout: float = 2.0) -> bool:
    """Return whether a Prefect API answers at `api_url` within `timeout` seconds."""
    address = urlsplit(api_url)
    https = address.scheme == "https"
    make = http.client.HTTPSConnection if https else http.client.HTTPConnection
    connection = make(address.netloc, timeout=timeout)
    try:
        connection.request("GET", f"{address.path.rstrip('/')}/health")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def _spawn(home: ServerHome) -> None:
    """Start the server's process; it detaches itself, holding the home's lock."""
    home.prefect_home.mkdir(parents=True, exist_ok=True)
    home.record.unlink(missing_ok=True)
    if home.log.exists() and home.log.stat().st_size > 1_000_000:
        home.log.replace(home.log.with_suffix(".log.1"))
    package_root = str(Path(__file__).parents[2])
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PREFECT_")}
    search_path = [package_root, os.environ.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(part for part in search_path if part)
    with home.log.open("ab") as log:
        subprocess.run(
            [sys.executable, "-P", "-m", "flows.server.process", str(home.folder.absolute())],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            check=False,
        )


def _wait_until_it_answers(home: ServerHome, deadline: float) -> ServerInfo | None:
    """Return the server once it answers; None when it stopped by itself before it was up.

    Raises:
        ServerUnavailable: it died while starting, or the deadline passed.
    """
    seen: ServerInfo | None = None
    while time.monotonic() < deadline:
        seen = home.announced() or seen
        if seen is not None:
            _refuse_other_host(home, seen)
            if is_healthy(seen.url):
                return seen
        if not home.is_held():
            if seen is not None:
                return None
            raise ServerUnavailable(
                f"the local Prefect server did not start: {_last_words(home)}",
                str(home.log),
                "read the log, or set PREFECT_API_URL to a server",
            )
        time.sleep(_POLL_SECONDS)
    raise ServerUnavailable(
        "the local Prefect server did not answer in time",
        str(home.log),
        "read the log, or set PREFECT_API_URL to a server",
    )


def _wait_until_gone(home: ServerHome) -> bool:
    """Return whether the server's process ended within `STOP_SECONDS`."""
    deadline = time.monotonic() + STOP_SECONDS
    while home.is_held():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _refuse_other_host(home: ServerHome, info: ServerInfo) -> None:
    """Raise when the server of this home runs on another machine, out of reach."""
    if info.host != this_host():
        raise ServerUnavailable(
            f"the local Prefect server of this folder runs on {info.host!r}",
            str(home.folder),
            "set EVALMILL_HOME to a folder of this machine, or PREFECT_API_URL to a server",
        )


def _last_words(home: ServerHome) -> str:
    """Return the last line of the server's log, bounded."""
    lines = home.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return bounded(lines[-1]) if lines else "it left no message"


def _signal(pid: int, number: signal.Signals) -> None:
    """Send a signal to a process that may be gone already."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
