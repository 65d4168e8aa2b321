"""How well a run uses the concurrency that it may use."""

from collections.abc import Iterator

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import Config, serve_in_process

LATENCY_MS, CONNECTIONS = 200, 100


def measure(bench: Workbench) -> Iterator[Result]:
    """Run against a server that takes 200 ms, over 100 connections."""
    bench.start_server()
    with serve_in_process(Config(latency_ms=LATENCY_MS)) as server:
        file = write_run_file(bench.new_folder("task"), bench.samples, server.base_url)
        store = bench.new_folder("store")
        run = bench.evalmill("run", file, "-j", str(CONNECTIONS), "-o", store)
        stats = server.stats()
    ideal = bench.samples * LATENCY_MS / 1000 / CONNECTIONS
    floor = "samples x latency / connections"
    what = f"Wall, {bench.samples:,} samples, {LATENCY_MS} ms x {CONNECTIONS}, first request to"
    last_reply = stats["last_reply_at"] - stats["first_request_at"]
    yield Result(f"{what} last reply", last_reply, "s", "<= 1.10 x floor", ideal, floor)
    whole = run.ended_at - stats["first_request_at"]
    yield Result(f"{what} end", whole, "s", "<= 1.10 x floor", ideal, floor)
    yield Result("Requests in flight at most", stats["max_in_flight"], "", f"= {CONNECTIONS}")
