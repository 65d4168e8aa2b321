"""The steps of a run as Prefect tasks; no logic.

No task has tags: Prefect asks its server about a concurrency limit for each tag of each run,
38 ms a time. Results are not kept by Prefect: what a step made is in the run folder.
"""

from typing import Any, Final

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas import State, TaskRun
from prefect.tasks import Task

from tasks_lib import steps
from tasks_lib.runs.run import StepResult

RETRY_DELAYS = [1.0, 5.0]


def may_pass_later(task: Task[Any, Any], task_run: TaskRun, state: State[Any]) -> bool:
    """Return whether a step failed for want of a resource, not by what it was given.

    Model trouble is retried call by call, inside; a store that can't be written stays so.
    """
    error = state.result(raise_on_failure=False)
    return isinstance(error, OSError | MemoryError)


AS_STEP: Final[dict[str, Any]] = {
    "retries": len(RETRY_DELAYS),
    "retry_delay_seconds": RETRY_DELAYS,
    "retry_condition_fn": may_pass_later,
    "cache_policy": NO_CACHE,
    "persist_result": False,
}
"""How Prefect runs every step."""


@task(name="solve", task_run_name="solve {spec_key} [{start}:{stop}]", **AS_STEP)
def solve(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
    """Solve the samples `[start, stop)` of a task specification."""
    return steps.solve_batch(run_dir, spec_key, start, stop)


@task(name="score", task_run_name="score {spec_key} [{start}:{stop}]", **AS_STEP)
def score(
    run_dir: str, spec_key: str, start: int, stop: int, solved: list[StepResult]
) -> StepResult:
    """Score the samples `[start, stop)` of a task specification, solved before."""
    return steps.score_batch(run_dir, spec_key, start, stop)


@task(name="score all", task_run_name="score all {spec_key}", **AS_STEP)
def score_all(run_dir: str, spec_key: str, scored: list[StepResult]) -> StepResult:
    """Score all samples of a task specification together, after its batches."""
    return steps.score_all(run_dir, spec_key)


@task(name="reduce", **AS_STEP)
def reduce(run_dir: str, scored: list[StepResult]) -> StepResult:
    """Make the metrics of all specifications and finish the run."""
    return steps.reduce(run_dir)
