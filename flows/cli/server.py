"""`evalmill server`: the local Prefect server."""

import sys

import typer

server = typer.Typer(no_args_is_help=True)


@server.callback()
def _server() -> None:
    """Start, stop or look at the local Prefect server.

    It starts by itself when a run needs it, and stops after an idle hour.
    Example: evalmill server status
    """


@server.command()
def start() -> int:
    """Start the server, or find the one that runs; print its UI address."""
    from flows.server import ensure_server

    info = ensure_server()
    print(info.ui_url)
    print(f"set PREFECT_API_URL={info.url} to use it with the prefect command", file=sys.stderr)
    return 0


@server.command()
def stop() -> int:
    """Stop the server."""
    from flows.server import stop_server

    print("stopped" if stop_server() else "no server was running", file=sys.stderr)
    return 0


@server.command()
def status() -> int:
    """Print the running server's UI address; exit 1 when there is none."""
    from flows.server import server_status

    info = server_status()
    if info is None:
        print("no server is running", file=sys.stderr)
        return 1
    print(info.ui_url)
    print(f"pid {info.pid}, Prefect {info.prefect}, since {info.started}", file=sys.stderr)
    return 0
