"""The steps of a run: plain functions over a run folder and a range of samples.

They are idempotent: a part that is already written is not made again. Their arguments are
paths, keys and ranges; samples, traces and secrets never travel through an orchestrator.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from tasks_lib.results.folder import part_name
from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import read_samples, sample_records, statuses, write_samples
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import write_score_records
from tasks_lib.results.scores import score_name, unify_scores
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.run import Run, StepResult, find_run
from tasks_lib.scorers.base import AllSamplesScorer, Datasets
from tasks_lib.scorers.score import Row
from tasks_lib.sources import Aligned
from tasks_lib.steps.action_rules import apply_rules
from tasks_lib.steps.batch_scores import outcomes_of, scorer_table
from tasks_lib.steps.reduction import reduce_run
from tasks_lib.steps.resume import failed_places, is_whole, kept_scores, solve_again
from tasks_lib.steps.scoring import Outcome, score_together, scorer_rows, spread
from tasks_lib.steps.solving import solve_samples
from tasks_lib.steps.system_task import write_evidence
from tasks_lib.system_tasks import SystemTask


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
    records = run.solved.pop((spec_key, start), None)
    name = part_name(start, stop)
    rows = run.rows[spec_key]
    if isinstance(rows, LoggedSamples):
        for key, scores in rows.part(start, stop).scores.items():
            write_score_records(run.folder.scores(spec_key, key) / name, scores)
        return _scored(run, stop - start)
    due = {
        key: (scorer, kept)
        for key, scorer in run.scorers(spec_key).items()
        if not isinstance(scorer, AllSamplesScorer)
        and (kept := kept_scores(run, spec_key, key, start, stop)) is not None
    }
    if not due:
        return _scored(run, stop - start)
    if records is None:
        records = _part_records(run, spec_key, start, stop)
    outcomes = outcomes_of(run, spec_key, due, [r for r in records if r.status == "ok"])
    for key, (scorer, _) in due.items():
        table = scorer_table(run, spec_key, scorer, records, spread(records, outcomes[key]))
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
    definition = run.spec(spec_key).task.definition
    rows = run.rows[spec_key]
    if isinstance(rows, LoggedSamples):
        for key in rows.log.scorers:
            unify_scores(run.folder.scores(spec_key, key))
        return {"rows": len(rows)}
    if isinstance(definition, SystemTask):
        write_evidence(run.folder, spec_key, definition, again=run.plan.settings.retry_errors)
        return {"rows": 1}
    scorers = run.scorers(spec_key)
    together = {
        key: scorer for key, scorer in scorers.items() if isinstance(scorer, AllSamplesScorer)
    }
    if together:
        _score_together(run, spec_key, together)
    kinds = [unify_scores(run.folder.scores(spec_key, key)) for key in scorers]
    trials = definition.trials if run.spec(spec_key).num_trials > 1 else None
    if trials and all(kinds):  # a scorer that failed everywhere gives nobody knows what
        given = {score_name(column) for columns in kinds for column in columns}
        for name in trials.unknown_scores(given):
            words = f"{spec_key}: no scorer gives the score '{name}' that trials aggregate"
            run.warn(words)
    if definition.actions and scorers:
        apply_rules(run, spec_key)
    return {"rows": run.plan.spec(spec_key).n_samples}


def _score_together(run: Run, spec_key: str, scorers: Mapping[str, AllSamplesScorer]) -> None:
    """Score all samples of each trial at once, and write the scores batch by batch."""
    spec = run.spec(spec_key)
    batches = {cut: _part_records(run, spec_key, *cut) for cut in run.plan.spec(spec_key).batches}
    records = [record for batch in batches.values() for record in batch]
    for key, scorer in scorers.items():
        outcomes: dict[int, Outcome] = {}
        for trial in range(spec.repeats):
            solved = [r for r in records if r.status == "ok" and r.trial == trial]
            rows = scorer_rows(solved, spec.task.definition.solver)
            found = score_together(scorer, rows, _datasets(run, spec_key, rows)) if rows else []
            outcomes |= dict(zip(map(id, solved), found, strict=True))
        for (start, stop), batch in batches.items():
            said = [outcomes.get(id(record)) for record in batch]
            table = scorer_table(run, spec_key, scorer, batch, said)
            write_table(run.folder.scores(spec_key, key) / part_name(start, stop), table)


def _datasets(run: Run, spec_key: str, rows: Sequence[Row]) -> Datasets | None:
    """The rows of each of several datasets; of such as differ in length, all there are."""
    names = run.spec(spec_key).side_by_side
    if names is None:
        return None
    source = run.rows[spec_key]
    if isinstance(source, Aligned) and source.uneven:
        return {
            name: [sample.data for sample in named.read(0, len(named))]
            for name, named in source.named.items()
        }
    return {name: [row.sample[name] for row in rows] for name in names}


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


def _part_records(run: Run, spec_key: str, start: int, stop: int) -> list[SampleRecord]:
    return read_samples(run.folder.samples(spec_key), start, stop)


def _scored(run: Run, rows: int) -> StepResult:
    run.progress.add(scored=rows)
    return {"rows": rows}


def _counts(by_status: Mapping[str, int]) -> StepResult:
    ends = {status: by_status.get(status, 0) for status in ("ok", "error", "skipped")}
    return {"rows": sum(by_status.values()), **ends}
