"""What it costs to keep to a global concurrency limit of Prefect."""

import time
from collections.abc import Iterator

from flows.leases import GlobalLeases
from flows.server import ServerHome, ensure_server
from tests.benchmarks.workbench import Result, Workbench

NAME, SLOTS, BATCH, LEASES = "benchmark", 50, 200, 30


def measure(bench: Workbench) -> Iterator[Result]:
    """Take and hand back leases that nobody else wants, one after another."""
    from prefect.client.orchestration import get_client

    from flows.client import connected

    server = ensure_server(timeout=180, home=ServerHome(bench.home))
    with connected(server.url), get_client(sync_client=True) as client:
        client.upsert_global_concurrency_limit_by_name(NAME, SLOTS)
    leases = GlobalLeases(NAME, server.url, SLOTS, 1, print)

    def hold() -> None:
        with leases.hold(SLOTS, _go_on):
            pass

    hold()
    wall, cpu = time.perf_counter(), time.process_time()
    for _ in range(LEASES):
        hold()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    leases.close()
    what = "A lease of a global limit"
    yield Result(f"{what}, wall", 1000 * wall / LEASES, "ms", "")
    yield Result(f"{what}, CPU of the run's process", 1000 * cpu / LEASES, "ms", "")
    each = f"{what}, wall a call in batches of {BATCH}"
    yield Result(each, 1000 * wall / LEASES / BATCH, "ms", "<= 1 ms")


def _go_on() -> None:
    """Wait on."""
