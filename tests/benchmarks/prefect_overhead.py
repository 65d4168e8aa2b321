"""What Prefect costs: server starts, its import, a task run here and at the server."""

import os
import time
from collections.abc import Iterator
from pathlib import Path

from flows.server import ServerHome, ensure_server, stop_server
from tests.benchmarks.workbench import BenchmarkError, Result, Workbench
from tests.benchmarks.workload import write_run_file

BATCHES = 50
TASK_RUNS = 2 * BATCHES + 2
SETTLE_SECONDS = 5.0


def measure(bench: Workbench) -> Iterator[Result]:
    """Start servers, then run `BATCHES` batches of one scripted sample with and without Prefect."""
    home = ServerHome(bench.home)
    yield Result("Server start, very first", _server_start(home), "s", "")
    stop_server(home)
    yield Result("Server start, again", _server_start(home), "s", "")

    python = bench.median(lambda: bench.python("-c", "pass").cpu_s)
    importing = bench.median(lambda: bench.python("-c", "from prefect import flow, task").cpu_s)
    yield Result("CPU of importing Prefect", importing - python, "s", "")

    file = write_run_file(bench.new_folder("task"), BATCHES, None)
    server_cpu: list[float] = []

    def run(*flags: str) -> float:
        store = bench.new_folder("store")
        return bench.evalmill("run", file, "--batch-size", "1", "-o", store, *flags).cpu_s

    def run_with_prefect() -> float:
        before = _server_cpu(home)
        used = run()
        time.sleep(SETTLE_SECONDS)  # the server is behind with recording
        server_cpu.append(_server_cpu(home) - before)
        return used

    run_with_prefect()  # the first run of a server has it import and prepare much
    server_cpu.clear()
    conducted = bench.median(run_with_prefect)
    alone = bench.median(lambda: run("--no-prefect"))
    flow = conducted - alone - (importing - python)
    yield Result(f"CPU of a flow of {BATCHES}+{BATCHES} batches", flow, "s", "")
    yield Result("  a task run, client", flow / TASK_RUNS * 1000, "ms", "")
    server = sorted(server_cpu)[len(server_cpu) // 2]
    yield Result("  a task run, server", server / TASK_RUNS * 1000, "ms", "")


def _server_start(home: ServerHome) -> float:
    began = time.monotonic()
    ensure_server(timeout=180, home=home)
    return time.monotonic() - began


def _server_cpu(home: ServerHome) -> float:
    """User and system seconds of the server's process until now."""
    info = home.announced()  # asking it might take it too long while it records
    if info is None or not home.is_held():
        raise BenchmarkError("the Prefect server is gone")
    stat = Path(f"/proc/{info.pid}/stat").read_text(encoding="ascii")
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")
