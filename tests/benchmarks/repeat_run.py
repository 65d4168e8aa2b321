"""What an unchanged run costs the second time."""

from collections.abc import Iterator

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import serve_in_process


def measure(bench: Workbench) -> Iterator[Result]:
    """Run the same file twice into the same store."""
    bench.start_server()
    with serve_in_process() as server:
        file = write_run_file(bench.new_folder("task"), bench.samples, server.base_url)
        command = ("run", file, "-j", str(bench.connections), "-o", bench.new_folder("store"))
        first = bench.evalmill(*command)
        server.reset()
        second = bench.evalmill(*command)
        requests = server.stats()["requests"]
    what = f"{bench.samples:,} samples"
    yield Result(f"Requests of a repeated run, {what}", requests, "", "= 0")
    yield Result(
        f"CPU of a repeated run, {what}",
        second.cpu_s,
        "s",
        "<= 0.15 x floor",
        first.cpu_s,
        "the first run",
    )
