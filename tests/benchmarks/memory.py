"""Peak memory of the process that runs the evaluation."""

from collections.abc import Iterator

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import serve_in_process

SMALL = 2_000
GROWTH = 20
"""Samples against which the growth is measured: a million against 50,000 is `-n 50000`."""


def measure(bench: Workbench) -> Iterator[Result]:
    """Run some samples against a server, then many and twenty times as many in process."""
    bench.start_server()

    def peak(samples: int, base_url: str | None) -> float:
        file = write_run_file(bench.new_folder("task"), samples, base_url)
        store, connections = bench.new_folder("store"), str(bench.connections)
        return bench.evalmill("run", file, "-j", connections, "-o", store).peak_mb

    with serve_in_process() as server:
        yield Result(
            f"Peak memory, {SMALL:,} samples", peak(SMALL, server.base_url), "MB", "<= 200 MB"
        )
    many = peak(bench.samples, None)
    yield Result(f"Peak memory, {bench.samples:,} samples, mock", many, "MB", "")
    yield Result(
        f"Peak memory, {bench.samples * GROWTH:,} samples, mock",
        peak(bench.samples * GROWTH, None),
        "MB",
        "<= 1.50 x floor",
        many,
        f"{bench.samples:,} samples",
    )
