"""Scoring rows by asking a model about each of them."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from tasks_lib.errors import OverBudget, SampleError, Stopped, StoreError
from tasks_lib.models.calls import Calls
from tasks_lib.models.loop import StalledError, worked_off
from tasks_lib.results.error_text import unexpected
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.runs.run import Run
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.score import Row, Score


def score_with_model(
    run: Run,
    spec_key: str,
    scorer_key: str,
    scorer: ModelScorer,
    rows: Sequence[tuple[SampleRecord, Row]],
) -> list[Score | SampleError | OverBudget]:
    """Score rows by asking a model, as many at a time as its calls allow.

    A row whose question the budget does not allow any more is skipped.

    Args:
        run: the open run.
        spec_key: the specification the rows belong to.
        scorer_key: names the scorer as caller.
        scorer: asks.
        rows: what the scorer sees, each with the record it was made of, which places its
            calls in the ledger.

    Raises:
        Stopped: the run was interrupted.
        StoreError: a reply could not be recorded.
    """
    not_asked = SampleError("infra", "not asked")
    outcomes: list[Score | SampleError | OverBudget] = [not_asked for _ in rows]

    async def ask(numbered: tuple[int, tuple[SampleRecord, Row]]) -> None:
        i, (record, row) = numbered
        calls = Calls(run.models, spec_key, f"scorer:{scorer_key}", record.sample_id, record.trial)
        outcomes[i] = await _asked(scorer, row, calls)

    with run.leased(run.models.concurrency(scorer.asked_model)) as workers:
        try:
            run.loop.run(
                worked_off(enumerate(rows), ask, workers, run.models.signs_of_life, run.patience())
            )
        except StalledError as error:
            late = SampleError("infra", str(error))
            return [late if outcome is not_asked else outcome for outcome in outcomes]
    return outcomes


async def _asked(scorer: ModelScorer, row: Row, calls: Calls) -> Score | SampleError | OverBudget:
    failure: SampleError | OverBudget
    try:
        score = await scorer.score(row, calls)
    except (SampleError, OverBudget) as error:
        failure = error
    except (Stopped, StoreError, asyncio.CancelledError):
        raise
    except Exception as error:
        failure = unexpected(error)
    else:
        return replace(score, metadata={**(score.metadata or {}), "usage": calls.usage})
    failure.metadata = {**(failure.metadata or {}), "usage": calls.usage}
    return failure
