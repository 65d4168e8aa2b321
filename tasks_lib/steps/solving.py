"""The step that solves a batch."""

from collections import Counter
from collections.abc import Mapping

from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import sample_records, statuses, write_samples
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.batch import Batch
from tasks_lib.runs.run import StepResult, find_open_run
from tasks_lib.steps.attempts import solve_samples
from tasks_lib.steps.resume import failed_places, is_whole, solve_again


def solve_batch(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
    """Solve samples `[start, stop)` of a specification and write their part.

    Returns:
        `{"rows", "ok", "error", "skipped"}`: how many rows the part has, and how they ended.

    Raises:
        Stopped: the run was interrupted; nothing was written, replies are in the ledger.
        StoreError: the part can't be written.
    """
    batch = Batch(find_open_run(run_dir), spec_key, start, stop)
    return batch.run.once(("solve", spec_key, str(start)), lambda: _solve(batch))


def _solve(batch: Batch) -> StepResult:
    run, part = batch.run, batch.samples
    if is_whole(run, part):
        failed = failed_places(batch)
        if not failed:
            result = _counts(statuses(part))
            done = (batch.stop - batch.start) * batch.spec.repeats
            run.progress.add(
                done=done - result["skipped"], failed=result["error"], skipped=result["skipped"]
            )
            return result
        records = solve_again(batch, failed)
        write_samples(part, records)
    else:
        records = _records(batch)
    run.solved[batch.spec_key, batch.start] = records
    return _counts(Counter(record.status for record in records))


def _records(batch: Batch) -> list[SampleRecord]:
    """Solve a batch, or take over what another run recorded of it, and write its part."""
    run, rows, start, stop = batch.run, batch.rows, batch.start, batch.stop
    if isinstance(rows, StoredSamples):
        table = rows.table(start, stop)  # copied as it is: no row is taken apart for it
        write_table(batch.samples, table)
        records = sample_records(table)
    elif isinstance(rows, LoggedSamples):
        records = [*rows.part(start, stop).records]
        write_samples(batch.samples, records)
    else:
        records = solve_samples(run, batch.spec_key, rows.read(start, stop))
        write_samples(batch.samples, records)
        return records
    failed = sum(record.status != "ok" for record in records)
    run.progress.add(done=(stop - start) * batch.spec.repeats, failed=failed)
    return records


def _counts(by_status: Mapping[str, int]) -> StepResult:
    ends = {status: by_status.get(status, 0) for status in ("ok", "error", "skipped")}
    return {"rows": sum(by_status.values()), **ends}
