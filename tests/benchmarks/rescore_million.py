"""Scoring stored traces again: of a file of them, and of a run."""

from collections.abc import Iterator
from pathlib import Path

from tasks_lib.trace import Trace, message_item
from tests.benchmarks.workbench import Measured, Result, Workbench
from tests.benchmarks.workload import answer, question, write_run_file

GROWTH = 10
"""Traces a sample of other benchmarks: a million is `-n 100000`."""

PART = 50_000
TARGET_S = 60.0
TARGET_MB = 1_500.0


def measure(bench: Workbench) -> Iterator[Result]:
    """Score a file of traces with `string_equals`, then the run that came of it."""
    traces = bench.samples * GROWTH
    task = write_run_file(bench.new_folder("task"), 10, None)
    file = bench.new_folder("traces").with_suffix(".parquet")
    write_traces(file, traces)
    store = bench.new_folder("store")

    def rescore(source: str | Path, run_id: str) -> Measured:
        flags = ("--no-prefect", "--no-progress", "-o", store, "--run-id", run_id)
        return bench.evalmill("rescore", source, task, *flags)

    for what, source, run_id in (
        ("a file", file, "of-file"),
        ("a run", "of-file", "of-run"),
    ):
        used = rescore(source, run_id)
        name = f"Scoring {traces:,} traces of {what} again"
        share = traces / 1_000_000
        yield Result(name, used.wall_s, "s", f"<= {TARGET_S * share:.3g} s")
        yield Result(f"{name}, CPU", used.cpu_s, "s", "")
        yield Result(f"{name}, peak memory", used.peak_mb, "MB", f"<= {TARGET_MB:,.0f} MB")


def write_traces(file: Path, traces: int) -> None:
    """Write a Parquet file with a question, its answer and the recorded conversation a row."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in ("question", "answer", "trace")])
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for start in range(0, traces, PART):
            numbers = range(start, min(start + PART, traces))
            columns = [
                [question(number) for number in numbers],
                [answer(number) for number in numbers],
                [_trace(number) for number in numbers],
            ]
            writer.write_table(pa.table(columns, schema=schema))


def _trace(number: int) -> str:
    said = answer(number) if number % 7 else "no idea"
    items = [message_item("user", question(number)), message_item("assistant", said)]
    return Trace.from_items(items).to_json()
