"""The steps of a run: plain functions over a run folder and a range of samples.

They are idempotent: a part that is already written is not made again. Their arguments are
paths, keys and ranges; samples, traces and secrets never travel through an orchestrator.
"""

from typing import Any

from tasks_lib.asking import score_asking
from tasks_lib.reduction import reduce_run
from tasks_lib.rescoring import StoredSamples
from tasks_lib.results.folder import RunFolder, part_name, part_range, parts
from tasks_lib.results.parts import (
    read_samples,
    score_rows,
    statuses,
    unify_scores,
    write_samples,
    write_table,
)
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.runtime import Run, StepResult, find_run
from tasks_lib.scorers.base import AllSamplesScorer, ModelScorer
from tasks_lib.scoring import (
    score_columns,
    score_each,
    score_together,
    scorer_rows,
    spread,
)
from tasks_lib.solving import solve_samples


def solve_batch(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
    """Solve samples `[start, stop)` of a specification and write their part.

    Returns:
        `{"rows", "ok", "error"}`: how many rows the part has, and how they ended.

    Raises:
        Stopped: the run was interrupted; nothing was written, replies are in the ledger.
        StoreError: the part can't be written.
    """
    run = find_run(run_dir)
    return run.once(("solve", spec_key, str(start)), lambda: _solve(run, spec_key, start, stop))


def _solve(run: Run, spec_key: str, start: int, stop: int) -> StepResult:
    folder = run.folder.samples(spec_key)
    part = folder / part_name(start, stop)
    if part.exists():
        result = _counts(statuses(part))
        run.progress.add(done=stop - start, failed=result["error"])
        return result
    records = _records(run, spec_key, start, stop)
    write_samples(folder, start, stop, records)
    run.solved[spec_key, start] = records
    return _record_counts(records)


def _records(run: Run, spec_key: str, start: int, stop: int) -> list[SampleRecord]:
    """Solve a batch, or take over what another run recorded of it."""
    rows = run.rows[spec_key]
    if not isinstance(rows, StoredSamples):
        return solve_samples(run, spec_key, rows.read(start, stop))
    records = rows.records(start, stop)
    failed = sum(record.status != "ok" for record in records)
    run.progress.add(done=stop - start, failed=failed)
    return records


def score_batch(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
    """Score the solved samples `[start, stop)` with every scorer that takes rows one by one.

    Returns:
        `{"rows"}`: how many rows there were to score.

    Raises:
        StoreError: the solved part is missing, or a part can't be written.
    """
    run = find_run(run_dir)
    return run.once(("score", spec_key, str(start)), lambda: _score(run, spec_key, start, stop))


def _score(run: Run, spec_key: str, start: int, stop: int) -> StepResult:
    definition = run.spec(spec_key).task.definition
    records = run.solved.pop((spec_key, start), None)
    name = part_name(start, stop)
    due = {
        key: scorer
        for key, scorer in run.scorers(spec_key).items()
        if not isinstance(scorer, AllSamplesScorer)
        and not (run.folder.scores(spec_key, key) / name).exists()
    }
    if not due:
        return _scored(run, stop - start)
    if records is None:
        records = read_samples(run.folder.samples(spec_key), start, stop)
    solved = [record for record in records if record.status == "ok"]
    rows = scorer_rows(solved, definition.solver)
    for key, scorer in due.items():
        if isinstance(scorer, ModelScorer):
            asked = list(zip(solved, rows, strict=True))
            found = score_asking(run, spec_key, key, scorer, asked)
        else:
            found = score_each(scorer, rows)
        outcomes = spread(records, found)
        table = score_rows(*score_columns(records, outcomes))
        write_table(run.folder.scores(spec_key, key) / name, table)
    return _scored(run, len(records))


def score_all(run_dir: str, spec_key: str) -> StepResult:
    """Score all samples of a specification together, after its batches are scored.

    All-samples scorers run here, and the parts of every scorer get one schema.

    Returns:
        `{"rows"}`: how many rows there were.

    Raises:
        StoreError: a part is missing or can't be written.
    """
    run = find_run(run_dir)
    return run.once(("score-all", spec_key), lambda: _score_all(run, spec_key))


def _score_all(run: Run, spec_key: str) -> StepResult:
    spec = run.spec(spec_key)
    scorers = run.scorers(spec_key)
    together = {k: s for k, s in scorers.items() if isinstance(s, AllSamplesScorer)}
    if together:
        records = _all_records(run.folder, spec_key)
        rows = scorer_rows(
            [r for r in records if r.status == "ok"], spec.task.definition.solver
        )
        several = tuple(spec.datasets) if "dataset" not in spec.datasets else None
        name = part_name(0, run.plan.spec(spec_key).n_samples)
        for key, scorer in together.items():
            outcomes = spread(records, score_together(scorer, rows, several))
            table = score_rows(*score_columns(records, outcomes))
            write_table(run.folder.scores(spec_key, key) / name, table)
    for key in scorers:
        unify_scores(run.folder.scores(spec_key, key))
    return {"rows": run.plan.spec(spec_key).n_samples}


def reduce(run_dir: str) -> StepResult:
    """Aggregate every scorer's metrics, write the metrics table and finish the run.

    Returns:
        `{"metrics", "exit_code", "warnings"}`: the rows of the metrics table, and how the
        run ended.

    Raises:
        StoreError: the table can't be written.
    """
    run = find_run(run_dir)
    return run.once(("reduce",), lambda: reduce_run(run))


def _all_records(folder: RunFolder, spec_key: str) -> list[SampleRecord]:
    path = folder.samples(spec_key)
    return [record for part in parts(path) for record in read_samples(path, *part_range(part))]


def _scored(run: Run, rows: int) -> StepResult:
    run.progress.add(scored=rows)
    return {"rows": rows}


def _counts(by_status: dict[str, int]) -> StepResult:
    ok = by_status.get("ok", 0)
    rows = sum(by_status.values())
    return {"rows": rows, "ok": ok, "error": rows - ok}


def _record_counts(records: list[SampleRecord]) -> dict[str, Any]:
    ok = sum(record.status == "ok" for record in records)
    return {"rows": len(records), "ok": ok, "error": len(records) - ok}
