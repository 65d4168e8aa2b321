"""What a continued run keeps of what is stored, and what it does again.

A part that can't be read is made again as if it had never been written. A part that can be
read keeps what went well; samples that the budget did not allow are solved again, with
`--retry-errors` those that failed too, and scores are made again alike. What was paid for comes
from the ledger.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import loads
from tasks_lib.results.files import remove
from tasks_lib.results.parquet import read_table
from tasks_lib.results.samples import read_samples, statuses
from tasks_lib.results.schemas import Place, SampleRecord
from tasks_lib.results.score_records import ScoreRecord, read_score_records
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.batch import Batch
from tasks_lib.runs.run import Run
from tasks_lib.scorers.score import Score
from tasks_lib.steps.attempts import solve_samples

Kept = dict[Place, Score]
"""Scores that stay."""


def is_whole(run: Run, part: Path) -> bool:
    """Tell whether a part is there and can be read; damage is told.

    Only what another process wrote is read to see: this one knows what it wrote.
    """
    if not part.exists():
        return False
    if not run.plan.settings.resume:
        return True
    try:
        if "status" not in read_table(part).column_names:
            raise StoreError("it is a table of something else")
    except StoreError as error:
        run.warn(f"{part.relative_to(run.folder.path)} is damaged and made again: {error.problem}")
        return False
    return True


def failed_places(batch: Batch) -> set[tuple[int, int]]:
    """Return index and trial of the samples in a whole part that are to be solved again.

    What was recorded elsewhere can't be.
    """
    recorded = isinstance(batch.rows, StoredSamples | LoggedSamples)
    redone = _redone(batch.run)
    if recorded or not statuses(batch.samples).keys() & redone:
        return set()
    records = read_samples(batch.samples)
    return {(record.sample_index, record.trial) for record in records if record.status in redone}


def _redone(run: Run) -> set[str]:
    """The states of rows that a continued run does again."""
    settings = run.plan.settings
    if not settings.resume:
        return set()
    return {"skipped", "error"} if settings.retry_errors else {"skipped"}


def solve_again(batch: Batch, failed: set[tuple[int, int]]) -> list[SampleRecord]:
    """Solve samples of a batch again; return the records of the whole batch.

    The batch's scores are removed before its part is replaced, and those that stay are put
    into `run.kept`: whenever the process is killed, what is stored fits together.

    Args:
        batch: the batch.
        failed: index and trial of those to solve again.
    """
    run, spec_key = batch.run, batch.spec_key
    stored = read_samples(batch.samples)
    stay = [record for record in stored if (record.sample_index, record.trial) not in failed]
    n_stay = len({(record.sample_index, record.trial) for record in stay})
    run.progress.add(done=n_stay)
    samples = batch.rows.take(sorted({index for index, _ in failed}))
    again = solve_samples(run, spec_key, samples, failed)
    solved = {record.place for record in stay}
    for key in batch.spec.scorers:
        part = batch.scores(key)
        if is_whole(run, part):
            run.kept[spec_key, key, batch.start] = _scored(read_score_records(part), solved)
        remove(part)
    return sorted([*stay, *again], key=lambda r: (r.sample_index, r.trial, r.row))


def kept_scores(batch: Batch, scorer_key: str) -> Kept | None:
    """Return the scores of a batch that stay; None when there is nothing to score.

    Args:
        batch: the batch.
        scorer_key: one of its specification's scorers.
    """
    kept = batch.run.kept.pop((batch.spec_key, scorer_key, batch.start), None)
    if kept is not None:
        return kept
    part = batch.scores(scorer_key)
    if not is_whole(batch.run, part):
        return {}
    if not statuses(part).keys() & _redone(batch.run):
        return None
    solved = {record.place for record in read_samples(batch.samples) if record.status == "ok"}
    kept = _scored(read_score_records(part), solved)
    return None if len(kept) == len(solved) else kept


def _scored(records: Sequence[ScoreRecord], solved: Collection[Place]) -> Kept:
    """Return the scores of solved rows, without the fields that only other rows have."""
    sound = [record for record in records if record.values is not None]
    filled = {
        name
        for record in sound
        for name, value in (record.values or {}).items()
        if value is not None
    }
    return {
        record.place: Score(
            {
                name: value
                for name, value in (record.values or {}).items()
                if value is not None or name not in filled
            },
            None if record.metadata is None else loads(record.metadata),
        )
        for record in sound
        if record.place in solved
    }
