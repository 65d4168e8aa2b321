"""Wall time of a whole run of ten samples."""

from collections.abc import Iterator

from flows.server import ServerHome, stop_server
from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import serve_in_process

SAMPLES = 10


def measure(bench: Workbench) -> Iterator[Result]:
    """Run with a server up, for the very first time, and without Prefect."""
    bench.start_server()
    with serve_in_process() as server:
        file = write_run_file(bench.new_folder("task"), SAMPLES, server.base_url)

        def run(*flags: str) -> float:
            return bench.evalmill("run", file, "-o", bench.new_folder("store"), *flags).wall_s

        def very_first() -> float:
            home = bench.new_folder("home")
            try:
                return bench.evalmill(
                    "run", file, "-o", bench.new_folder("store"), home=home
                ).wall_s
            finally:
                stop_server(ServerHome(home))

        run()  # the first run of a server has it import and prepare much
        yield Result("Run of 10 samples, server up", bench.median(run), "s", "<= 4 s")
        yield Result(
            "Run of 10 samples, very first", bench.median(very_first, repeats=1), "s", "<= 20 s"
        )
        bare = bench.median(lambda: run("--no-prefect"))
        yield Result("Run of 10 samples, --no-prefect", bare, "s", "<= 2.5 s")
