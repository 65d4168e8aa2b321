"""`evalmill server`: the local Prefect server."""

import sys
from typing import TYPE_CHECKING, Any

import typer

from flows.cli import options

if TYPE_CHECKING:
    from flows.server import ServerInfo

server = typer.Typer()


@server.callback()
def _server() -> None:
    """Start, stop or look at the local Prefect server.

    It starts by itself when a run needs it, and stops after an idle hour.
    Example: evalmill server status
    """


@server.command()
def start(json: options.Json = False) -> int:
    """Start the server, or find the one that runs; print its UI address."""
    from flows.server import ensure_server
    from tasks_lib.jsontext import dumps

    info = ensure_server()
    print(dumps(_document(info)) if json else info.ui_url)
    print(f"set PREFECT_API_URL={info.url} to use it with the prefect command", file=sys.stderr)
    return 0


@server.command()
def stop(json: options.Json = False) -> int:
    """Stop the server."""
    from flows.server import stop_server
    from tasks_lib.jsontext import dumps

    stopped = stop_server()
    if json:
        print(dumps({"stopped": stopped}))
    print("stopped" if stopped else "no server was running", file=sys.stderr)
    return 0


@server.command()
def status(json: options.Json = False) -> int:
    """Print the running server's UI address; exit 1 when there is none."""
    from flows.server import server_status
    from tasks_lib.jsontext import dumps

    info = server_status()
    if json:
        print(dumps(_document(info)))
    if info is None:
        print("no server is running", file=sys.stderr)
        return 1
    if not json:
        print(info.ui_url)
    print(f"pid {info.pid}, Prefect {info.prefect}, since {info.started}", file=sys.stderr)
    return 0


def _document(info: "ServerInfo | None") -> dict[str, Any]:
    """What `--json` says of a server; None is none that runs."""
    if info is None:
        return {"running": False}
    return {
        "running": True,
        "ui_url": info.ui_url,
        "api_url": info.url,
        "pid": info.pid,
        "prefect": info.prefect,
        "started": info.started,
    }
