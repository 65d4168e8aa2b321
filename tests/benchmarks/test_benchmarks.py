"""The benchmarks' own parts, on next to no samples."""

import asyncio
from pathlib import Path

import pytest

from tasks_lib.loading import load
from tests.benchmarks.__main__ import table
from tests.benchmarks.floor_openai import ask_all
from tests.benchmarks.multi_turn import SHAPES, converse
from tests.benchmarks.workbench import BenchmarkError, Result, workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import RunningServer


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:1/v1", None])
def test_generated_run_file_is_right(tmp_path: Path, base_url: str | None) -> None:
    file = write_run_file(tmp_path / "task", 20, base_url)
    assert load(file).warnings == ()
    assert len((tmp_path / "task/questions.jsonl").read_text().splitlines()) == 20


@pytest.mark.parametrize("calls", SHAPES)
def test_generated_conversations_are_right(tmp_path: Path, calls: str) -> None:
    file = write_run_file(tmp_path / "task", 20, None)
    converse(file, SHAPES[calls])
    assert load(file).warnings == ()


def test_the_floor_makes_each_call_once(fake_server: RunningServer) -> None:
    assert asyncio.run(ask_all(fake_server.base_url, samples=20, workers=3)) == 20
    stats = fake_server.stats()
    assert (stats["requests"], stats["distinct_requests"]) == (20, 20)


def test_whole_processes_are_measured() -> None:
    large = b"x" * 100_000_000  # of the starting process, not of those it measures
    work = "import subprocess, sys; sum(range(10**7)); subprocess.run([sys.executable, '-c', '']);"
    with workbench(samples=1, connections=1, repeats=1) as bench:
        idle = bench.python("-c", "import time; time.sleep(0.5)")
        busy = bench.python("-c", work + "x = b'x' * 100_000_000")
    assert idle.wall_s >= 0.5
    assert idle.cpu_s < 0.4 * idle.wall_s
    assert busy.cpu_s > 2 * idle.cpu_s
    assert busy.peak_mb > 100 > idle.peak_mb
    assert len(large) == 100_000_000
    assert idle.started_at < idle.ended_at <= busy.started_at


def test_figures_of_a_failed_process_are_refused() -> None:
    with (
        workbench(samples=1, connections=1, repeats=1) as bench,
        pytest.raises(BenchmarkError, match=r"exit code 3\nno such thing"),
    ):
        bench.python("-c", "print('no such thing'); raise SystemExit(3)")


def test_the_table_sets_figures_beside_their_floors() -> None:
    results = [
        Result("CPU", 1.234, "ms", "<= 1.10 x floor", 1.0, "a loop"),
        Result("Requests", 0, "", "= 0"),
        Result("Disk", 12345.6, "kB", ""),
    ]
    assert table(results).splitlines() == [
        "benchmark   measured    floor   ratio  target           the floor is",
        "---------  ---------  -------  ------  ---------------  ------------",
        "CPU          1.23 ms  1.00 ms  1.23 x  <= 1.10 x floor  a loop",
        "Requests           0                   = 0",
        "Disk       12,346 kB",
    ]
