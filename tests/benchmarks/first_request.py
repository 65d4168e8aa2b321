"""Time from the start of the command to its first request."""

from collections.abc import Iterator
from pathlib import Path

from flows.server import ServerHome, stop_server
from tests.benchmarks.workbench import Measured, Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import RunningServer, serve_in_process

SAMPLES = 10


def measure(bench: Workbench) -> Iterator[Result]:
    """Run ten samples with a Prefect server up, with none to be found, and without Prefect."""
    bench.start_server()
    with serve_in_process() as server:
        file = write_run_file(bench.new_folder("task"), SAMPLES, server.base_url)

        def until_request(*flags: str, home: Path | None = None) -> float:
            server.reset()
            store = bench.new_folder("store")
            return _until_request(
                bench.evalmill("run", file, "-o", store, *flags, home=home), server
            )

        def bare() -> float:
            server.reset()
            arguments = ("-m", "tests.benchmarks.floor_openai", server.base_url, "1", "1")
            return _until_request(bench.python(*arguments), server)

        def without_server() -> float:
            home = bench.new_folder("home")
            try:
                return until_request(home=home)
            finally:
                stop_server(ServerHome(home))

        floor = bench.median(bare)
        for name, how in {
            "server up": until_request,
            "no server": without_server,
            "--no-prefect": lambda: until_request("--no-prefect"),
        }.items():
            seconds = bench.median(how)
            yield Result(
                f"First request, {name}", seconds, "s", "<= 1.2 s", floor, "openai[aiohttp] loop"
            )


def _until_request(run: Measured, server: RunningServer) -> float:
    return float(server.stats()["first_request_at"]) - run.started_at
