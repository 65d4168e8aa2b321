"""CPU of commands that call nothing."""

from collections.abc import Iterator
from pathlib import Path

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file

SAMPLES = 1000


def measure(bench: Workbench) -> Iterator[Result]:
    """Run `--help`, `check` and `plan`, beside a Python that does nothing."""
    file = write_run_file(bench.new_folder("task"), SAMPLES, None)
    repeats = max(5, bench.repeats)
    floor = bench.median(lambda: bench.python("-c", "pass").cpu_s, repeats)

    def result(name: str, *arguments: str | Path) -> Result:
        seconds = bench.median(lambda: bench.evalmill(*arguments).cpu_s, repeats)
        return Result(f"CPU of evalmill {name}", seconds, "s", "<= 0.4 s", floor, "python -c pass")

    yield result("--help", "--help")
    yield result("check", "check", file)
    yield result("plan", "plan", file)
