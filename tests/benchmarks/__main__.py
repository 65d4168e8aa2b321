"""`python -m tests.benchmarks`: run the benchmarks and print one table."""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks import (
    chaos,
    cli_start,
    concurrency_use,
    cpu_per_sample,
    disk,
    first_request,
    global_limit,
    kill_resume,
    memory,
    multi_turn,
    prefect_overhead,
    rate_limit,
    repeat_run,
    rescore_million,
    snippet_cost,
    ten_samples,
    trace_speed,
)
from tests.benchmarks.workbench import BenchmarkError, Result, Workbench, workbench

BENCHMARKS: dict[str, Callable[[Workbench], Iterator[Result]]] = {
    "cpu_per_sample": cpu_per_sample.measure,
    "concurrency_use": concurrency_use.measure,
    "rate_limit": rate_limit.measure,
    "global_limit": global_limit.measure,
    "chaos": chaos.measure,
    "multi_turn": multi_turn.measure,
    "first_request": first_request.measure,
    "ten_samples": ten_samples.measure,
    "cli_start": cli_start.measure,
    "prefect_overhead": prefect_overhead.measure,
    "memory": memory.measure,
    "kill_resume": kill_resume.measure,
    "repeat_run": repeat_run.measure,
    "rescore_million": rescore_million.measure,
    "disk": disk.measure,
    "trace_speed": trace_speed.measure,
    "snippet_cost": snippet_cost.measure,
}
HEADER = ("benchmark", "measured", "floor", "ratio", "target", "the floor is")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run benchmarks; exit 1 when one of them could not be measured."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure whole processes of evalmill beside the least the work can cost.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"default: all of {', '.join(BENCHMARKS)}"
    )
    parser.add_argument("-n", "--samples", type=int, default=10_000, help="of large runs")
    parser.add_argument("-j", "--connections", type=int, default=50, help="of large runs")
    parser.add_argument("-r", "--repeats", type=int, default=3, help="medians of so many")
    options = parser.parse_args(arguments)
    unknown = set(options.names) - BENCHMARKS.keys()
    if unknown:
        parser.error(f"no such benchmark: {', '.join(sorted(unknown))}")
    results: list[Result] = []
    failed = False
    for name in options.names or BENCHMARKS:
        began = time.monotonic()
        try:
            with workbench(options.samples, options.connections, options.repeats) as bench:
                results += BENCHMARKS[name](bench)
        except BenchmarkError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    print(table(results))
    return 1 if failed else 0


def table(results: Sequence[Result]) -> str:
    """Return results as aligned text, a header first."""
    rows = [HEADER, *map(_row, results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rows.insert(1, tuple("-" * width for width in widths))
    return "\n".join(_line(row, widths) for row in rows)


def _row(result: Result) -> tuple[str, ...]:
    beside = "" if result.beside is None else _quantity(result.beside, result.unit)
    ratio = "" if result.ratio is None else f"{result.ratio:.2f} x"
    measured = _quantity(result.measured, result.unit)
    return (result.name, measured, beside, ratio, result.target, result.floor)


def _quantity(value: float, unit: str) -> str:
    digits = 0 if value == 0 else max(0, 3 - len(str(int(abs(value)))))
    return f"{value:,.{digits if unit else 0}f} {unit}".strip()


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    figures = range(1, 4)
    aligned = (
        cell.rjust(width) if place in figures else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


if __name__ == "__main__":
    sys.exit(main())
