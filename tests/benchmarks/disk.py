"""What a run takes on disk."""

from collections.abc import Iterator

from tests.benchmarks.workbench import Result, Workbench
from tests.benchmarks.workload import write_run_file
from tests.fake_openai import serve_in_process

SAMPLES = 2_000


def measure(bench: Workbench) -> Iterator[Result]:
    """Add up the Parquet files of a run of short samples."""
    with serve_in_process() as server:
        file = write_run_file(bench.new_folder("task"), SAMPLES, server.base_url)
        store = bench.new_folder("store")
        bench.evalmill("run", file, "-j", str(bench.connections), "-o", store, "--no-prefect")
    parquet = sum(path.stat().st_size for path in store.rglob("*.parquet"))
    whole = sum(path.stat().st_size for path in store.rglob("*") if path.is_file())
    thousands = SAMPLES / 1000
    yield Result("Parquet of 1,000 samples", parquet / 1000 / thousands, "kB", "<= 200 kB")
    yield Result("Whole store of 1,000 samples", whole / 1000 / thousands, "kB", "")
