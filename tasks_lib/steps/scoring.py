"""The steps that score: batch by batch, then all samples of a specification together."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import read_samples
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import ScoreRecord, boolean_scores, score_table
from tasks_lib.results.scores import score_name, unify_scores
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.batch import Batch, batches
from tasks_lib.runs.run import Run, StepResult, find_open_run
from tasks_lib.scorers.base import AllSamplesScorer, BaseScorer, Datasets
from tasks_lib.scorers.score import Row
from tasks_lib.sources import Aligned
from tasks_lib.steps.action_rules import apply_rules
from tasks_lib.steps.outcomes import (
    Outcome,
    outcomes_of,
    score_record,
    score_together,
    scorer_rows,
    with_unsolved,
)
from tasks_lib.steps.resume import kept_scores
from tasks_lib.steps.system_task import write_evidence
from tasks_lib.steps.trial_aggregates import over_trials, shares
from tasks_lib.system_tasks import SystemTask

if TYPE_CHECKING:
    import pyarrow as pa


def score_batch(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
    """Score the solved samples `[start, stop)` with every scorer that takes rows one by one.

    Returns:
        `{"rows"}`: how many rows there were to score.

    Raises:
        StoreError: the solved part is missing, or a part can't be written.
    """
    batch = Batch(find_open_run(run_dir), spec_key, start, stop)
    return batch.run.once(("score", spec_key, str(start)), lambda: _score(batch))


def _score(batch: Batch) -> StepResult:
    run, spec, rows = batch.run, batch.spec, batch.rows
    records = run.solved.pop((spec.key, batch.start), None)
    n_samples = batch.stop - batch.start
    if isinstance(rows, LoggedSamples):
        for key, scores in rows.part(batch.start, batch.stop).scores.items():
            write_table(batch.scores(key), _logged_table(scores))
        return _scored(run, n_samples)
    due = {
        key: (scorer, kept)
        for key, scorer in spec.scorers.items()
        if not isinstance(scorer, AllSamplesScorer)
        and (kept := kept_scores(batch, key)) is not None
    }
    if not due:
        return _scored(run, n_samples)
    if records is None:
        records = read_samples(batch.samples)
    outcomes = outcomes_of(run, spec.key, due, [r for r in records if r.status == "ok"])
    for key, (scorer, _) in due.items():
        table = _table(spec, scorer, records, with_unsolved(records, outcomes[key]))
        write_table(batch.scores(key), table)
    return _scored(run, len(records))


def score_all(run_dir: str, spec_key: str) -> StepResult:
    """Score all samples of a specification together, after its batches are scored.

    All-samples scorers run here, and the parts of every scorer get one schema.

    Returns:
        `{"rows"}`: how many rows there were.

    Raises:
        StoreError: a part is missing or can't be written.
    """
    run = find_open_run(run_dir)
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
    scorers = run.spec(spec_key).scorers
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
    by_batch = {batch: read_samples(batch.samples) for batch in batches(run, spec_key)}
    records = [record for some in by_batch.values() for record in some]
    for key, scorer in scorers.items():
        outcomes: dict[int, Outcome] = {}
        for trial in range(spec.repeats):
            solved = [r for r in records if r.status == "ok" and r.trial == trial]
            rows = scorer_rows(solved, spec.task.definition.solver)
            found = score_together(scorer, rows, _datasets(run, spec_key, rows)) if rows else []
            outcomes |= dict(zip(map(id, solved), found, strict=True))
        for batch, some in by_batch.items():
            said = [outcomes.get(id(record)) for record in some]
            write_table(batch.scores(key), _table(spec, scorer, some, said))


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


def _table(
    spec: ResolvedSpec,
    scorer: BaseScorer,
    rows: Sequence[SampleRecord],
    outcomes: Sequence[Outcome],
) -> "pa.Table":
    """Return one scorer's rows of whole samples; with trials, followed by their aggregates."""
    scores = [score_record(row, said) for row, said in zip(rows, outcomes, strict=True)]
    if spec.num_trials == 1:
        return score_table(scores, scorer.shares())
    trials = spec.task.definition.trials
    aggregators = (trials.score_aggregators or ()) if trials else ()
    known = scorer.shares() | shares((score.values for score in scores), aggregators)
    return score_table([*scores, *over_trials(rows, outcomes, aggregators, spec.num_trials)], known)


def _logged_table(scores: Sequence[ScoreRecord]) -> "pa.Table":
    """Return a scorer's rows as a log has them; booleans of trials beside their aggregates."""
    trials = [score.values for score in scores if score.trial is not None]
    return score_table(scores, boolean_scores(trials) if len(trials) < len(scores) else ())


def _scored(run: Run, rows: int) -> StepResult:
    run.progress.add(scored=rows)
    return {"rows": rows}
