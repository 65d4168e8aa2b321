"""The step that solves a batch."""

from collections import Counter
from collections.abc import Mapping

from tasks_lib.results.folder import part_name
from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import sample_records, statuses, write_samples
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.run import Run, StepResult, find_run
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
    run = find_run(run_dir)
    return run.once(("solve", spec_key, str(start)), lambda: _solve(run, spec_key, start, stop))


def _solve(run: Run, spec_key: str, start: int, stop: int) -> StepResult:
    folder = run.folder.samples(spec_key)
    part = folder / part_name(start, stop)
    if is_whole(run, part):
        failed = failed_places(run, spec_key, part)
        if not failed:
            result = _counts(statuses(part))
            done = (stop - start) * run.spec(spec_key).repeats
            run.progress.add(
                done=done - result["skipped"], failed=result["error"], skipped=result["skipped"]
            )
            return result
        records = solve_again(run, spec_key, start, stop, failed)
        write_samples(folder, start, stop, records)
    else:
        records = _records(run, spec_key, start, stop)
    run.solved[spec_key, start] = records
    return _counts(Counter(record.status for record in records))


def _records(run: Run, spec_key: str, start: int, stop: int) -> list[SampleRecord]:
    """Solve a batch, or take over what another run recorded of it, and write its part."""
    rows = run.rows[spec_key]
    folder = run.folder.samples(spec_key)
    if isinstance(rows, StoredSamples):
        table = rows.table(start, stop)  # copied as it is: no row is taken apart for it
        write_table(folder / part_name(start, stop), table)
        records = sample_records(table)
    elif isinstance(rows, LoggedSamples):
        records = [*rows.part(start, stop).records]
        write_samples(folder, start, stop, records)
    else:
        records = solve_samples(run, spec_key, rows.read(start, stop))
        write_samples(folder, start, stop, records)
        return records
    failed = sum(record.status != "ok" for record in records)
    run.progress.add(done=(stop - start) * run.spec(spec_key).repeats, failed=failed)
    return records


def _counts(by_status: Mapping[str, int]) -> StepResult:
    ends = {status: by_status.get(status, 0) for status in ("ok", "error", "skipped")}
    return {"rows": sum(by_status.values()), **ends}
