"""A run that is killed again and again, at any moment, and resumed each time."""

import random
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.workbench import BenchmarkError, Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import Config, RunningServer, serve_in_process

SAMPLES, CONNECTIONS, LATENCY_MS = 2_000, 20, 20
SEED = 0


@dataclass
class Tally:
    """What came of the kills so far."""

    rounds: int = 0
    kills: int = 0
    in_flight: int = 0
    """Requests the server was answering at the kills."""
    repeated: int = 0
    lost: int = 0
    doubled: int = 0
    unequal: int = 0
    """Runs whose metrics differ from an undisturbed run's."""


def measure(bench: Workbench) -> Iterator[Result]:
    """Kill as often as there are repeats; a run that reaches its end is checked, and anew."""
    with serve_in_process(Config(latency_ms=LATENCY_MS, jitter=0.3)) as server:
        file = write_run_file(bench.new_folder("task"), SAMPLES, server.base_url)
        whole = bench.new_folder("store")
        # metrics are the same for every order of replies, and so is this run's length
        seconds = bench.evalmill(*_command(file, whole, None)).wall_s
        tally = _killed(bench, server, file, whole, seconds)
    what = f"{tally.kills} kills of {tally.rounds} runs of {SAMPLES:,} samples"
    allowed = tally.kills * CONNECTIONS
    yield Result(
        f"{what}: requests repeated", tally.repeated, "", "<= 1 x floor", allowed,
        f"calls allowed in flight; the server counted {tally.in_flight}",
    )  # fmt: skip
    yield Result(f"{what}: rows lost", tally.lost, "", "= 0")
    yield Result(f"{what}: rows doubled", tally.doubled, "", "= 0")
    yield Result(f"{what}: metrics that differ", tally.unequal, "", "= 0")


def _killed(
    bench: Workbench, server: RunningServer, file: Path, whole: Path, seconds: float
) -> Tally:
    """Kill `bench.repeats` times, at moments up to the end of a run of so many seconds."""
    tally = Tally()
    moments = random.Random(SEED)
    while tally.kills < bench.repeats:
        server.reset()
        store = bench.new_folder("store")
        while True:
            last = tally.kills == bench.repeats
            pause = None if last else moments.uniform(0.0, 1.05 * seconds)
            begun = (store / "runs" / "night" / "run.json").exists()
            if _ended(bench, server, _command(file, store, begun), pause, tally):
                break
        tally.rounds += 1
        stats = server.stats()
        tally.repeated += stats["requests"] - SAMPLES
        _compare(store, whole, tally)
    return tally


def _ended(
    bench: Workbench,
    server: RunningServer,
    command: list[str | Path],
    pause: float | None,
    tally: Tally,
) -> bool:
    """Run a command, kill it after a pause; return whether it came to its end before."""
    with subprocess.Popen(
        [sys.executable, "-m", "flows.cli", *map(str, command)],
        cwd=bench.folder,
        env=bench.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            _, words = process.communicate(timeout=pause)
        except subprocess.TimeoutExpired:
            in_flight = server.stats()["in_flight"] - 1  # the question itself
            process.kill()
            process.communicate()
            tally.kills += 1
            tally.in_flight += in_flight
            time.sleep(2 * LATENCY_MS / 1000)  # what it had asked still reaches the server
            return False
    if process.returncode != 0:
        raise BenchmarkError(f"exit code {process.returncode}\n{words}")
    return True


def _command(file: Path, store: Path, begun: bool | None) -> list[str | Path]:
    """The command that starts a run, or continues one that has begun."""
    named = ["--resume", "night"] if begun else [file, "--run-id", "night"]
    flags = ["-j", str(CONNECTIONS), "--no-prefect", "--no-progress", "-o", store]
    return ["run", *named, *flags]


def _compare(store: Path, whole: Path, tally: Tally) -> None:
    """Count the rows of a finished run that are missing or there twice, and compare metrics."""
    from collections import Counter

    import pyarrow.parquet as pq

    run = store / "runs" / "night"
    found: Counter[tuple[str, int]] = Counter()
    for folder in ("samples", "scores"):
        for path in (run / folder).rglob("*.parquet"):
            indexes = pq.read_table(path, columns=["sample_index"]).column(0).to_pylist()
            found.update((folder, index) for index in indexes)
    tally.lost += 2 * SAMPLES - len(found)
    tally.doubled += found.total() - len(found)
    mine, other = (pq.read_table(f / "runs/night/metrics.parquet") for f in (store, whole))
    tally.unequal += not mine.equals(other, check_metadata=True)
