"""The server as a process of its own: `python -m tests.fake_openai --port 0`."""

import argparse
import asyncio
import dataclasses
import gc
import importlib.util
import signal
from collections.abc import Sequence

from tests.fake_openai.app import FakeOpenAI
from tests.fake_openai.config import Config


def parse_arguments(arguments: Sequence[str] | None = None) -> tuple[argparse.Namespace, Config]:
    """Options of the command line; each field of `Config` has one."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.fake_openai",
        description="A fast, deterministic OpenAI-compatible server for tests and benchmarks.",
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8399, help="0 takes a free port")
    parser.add_argument("--loop", choices=("auto", "uvloop", "asyncio"), default="auto")
    for field in dataclasses.fields(Config):
        parser.add_argument(
            "--" + field.name.replace("_", "-"),
            type=type(field.default),
            default=field.default,
            help=f"default: {field.default}",
        )
    options = parser.parse_args(arguments)
    try:
        config = Config(**{f.name: getattr(options, f.name) for f in dataclasses.fields(Config)})
    except ValueError as problem:
        parser.error(str(problem))
    return options, config


def new_event_loop(kind: str) -> asyncio.AbstractEventLoop:
    """A loop of the kind `uvloop`, `asyncio` or `auto` (uvloop where it is installed)."""
    if kind == "uvloop" or (kind == "auto" and importlib.util.find_spec("uvloop")):
        loop: asyncio.AbstractEventLoop = importlib.import_module("uvloop").new_event_loop()
        return loop
    return asyncio.new_event_loop()


async def _serve(app: FakeOpenAI, host: str, port: int) -> None:
    server = await app.start(host, port)
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        app.loop.add_signal_handler(number, stop.set)
    bound = server.sockets[0].getsockname()
    print(f"listening on http://{bound[0]}:{bound[1]}/v1", flush=True)
    await stop.wait()
    server.close()


def main() -> None:
    """Run the server until it is told to stop."""
    options, config = parse_arguments()
    gc.set_threshold(100_000, 50, 50)  # next to no cycles are made
    loop = new_event_loop(options.loop)
    asyncio.set_event_loop(loop)
    loop.run_until_complete(_serve(FakeOpenAI(config), options.host, options.port))


if __name__ == "__main__":
    main()
