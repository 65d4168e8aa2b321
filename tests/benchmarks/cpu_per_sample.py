"""CPU per sample of a whole run, and Prefect's share of it."""

import statistics
from collections.abc import Iterator

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import serve_in_process


def measure(bench: Workbench) -> Iterator[Result]:
    """Interleave whole processes: the bare loop, a run, a run without Prefect."""
    bench.start_server()
    count, connections = str(bench.samples), str(bench.connections)
    floors, runs, bare_runs = [], [], []
    with serve_in_process() as server:
        file = write_run_file(bench.new_folder("task"), bench.samples, server.base_url)
        floor = ("-m", "tests.benchmarks.floor_openai", server.base_url, count, connections)
        for _ in range(bench.repeats):
            floors.append(bench.python(*floor).cpu_s)
            store = bench.new_folder("store")
            runs.append(bench.evalmill("run", file, "-j", connections, "-o", store).cpu_s)
            store = bench.new_folder("store")
            bare_runs.append(
                bench.evalmill("run", file, "-j", connections, "-o", store, "--no-prefect").cpu_s
            )
    per_sample = 1000 / bench.samples
    floor_ms, run_ms, bare_ms = (
        statistics.median(seconds) * per_sample for seconds in (floors, runs, bare_runs)
    )
    what, floor_name = f"{bench.samples:,} samples, 0 ms", "openai[aiohttp] loop"
    yield Result(f"CPU per sample, {what}", run_ms, "ms", "<= 1.10 x floor", floor_ms, floor_name)
    yield Result(f"CPU per sample, {what}, --no-prefect", bare_ms, "ms", "", floor_ms, floor_name)
    yield Result("CPU of Prefect in a run", (run_ms - bare_ms) / per_sample, "s", "")
