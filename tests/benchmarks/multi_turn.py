"""How well conversations of several calls use the concurrency that they may use."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import Config, serve_in_process

CONVERSATIONS, LATENCY_MS, CONNECTIONS = 2_000, 200, 100

Builder = Mapping[str, Any]
GENERATE: Builder = {"type": "generate"}


def loop(times: int, *builders: Builder) -> Builder:
    """A loop of so many iterations at most."""
    return {
        "type": "loop",
        "max_iterations": times,
        "on_max_iterations": "continue",
        "message_builders": builders,
    }


SHAPES: Mapping[str, Builder] = {
    "5 calls": loop(
        5, {"type": "chat_message", "role": "user", "content": "{{ sample.question }}"}, GENERATE
    ),
    "1 to 9 calls": loop(
        9,
        {
            "type": "chat_message",
            "role": "user",
            "content": "{% if loop_index > sample.answer | int % 9 %}enough"
            "{% else %}{{ sample.question }}{% endif %}",
            "terminate_if": {"includes": "enough", "keep_iteration": False},
        },
        GENERATE,
    ),
}
"""What is said, by how many calls that takes; one conversation must not hold up others."""


def measure(bench: Workbench) -> Iterator[Result]:
    """Run conversations against a server that takes 200 ms, over 100 connections."""
    bench.start_server()
    for calls, builder in SHAPES.items():
        yield from _measure(bench, calls, builder)


def _measure(bench: Workbench, calls: str, builder: Builder) -> Iterator[Result]:
    with serve_in_process(Config(latency_ms=LATENCY_MS)) as server:
        file = write_run_file(bench.new_folder("task"), CONVERSATIONS, server.base_url)
        converse(file, builder)
        run = bench.evalmill("run", file, "-j", str(CONNECTIONS), "-o", bench.new_folder("store"))
        stats = server.stats()
    ideal = stats["requests"] * LATENCY_MS / 1000 / CONNECTIONS
    floor = "requests x latency / connections"
    what = f"Wall, {CONVERSATIONS:,} conversations of {calls}, {LATENCY_MS} ms x {CONNECTIONS}"
    whole = run.ended_at - stats["first_request_at"]
    yield Result(f"{what}, first request to end", whole, "s", "<= 1.15 x floor", ideal, floor)
    last_reply = stats["last_reply_at"] - stats["first_request_at"]
    yield Result("  to last reply", last_reply, "s", "", ideal, floor)
    yield Result("  requests in flight at most", stats["max_in_flight"], "", f"= {CONNECTIONS}")
    per_call = 1000 * run.cpu_s / stats["requests"]
    yield Result("  CPU per call, all included", per_call, "ms", "")


def converse(run_file: Path, builder: Builder) -> None:
    """Have the task of a run file hold conversations."""
    run = json.loads(run_file.read_text(encoding="utf-8"))
    solver = {"type": "multi_turn_solver", "message_builders": [builder]}
    run["tasks"][0]["definition"]["solver"] = solver
    run_file.write_text(json.dumps(run, indent=1), encoding="utf-8")
