"""The stages of a run inside a Prefect flow: which task runs follow which."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import ThreadPoolTaskRunner

from flows import tasks
from tasks_lib.errors import EvalmillError, Stopped
from tasks_lib.plan import Plan
from tasks_lib.runs.run import Run, StepResult

T = TypeVar("T")
Future = PrefectFuture[Any]
Runner = ThreadPoolTaskRunner[Any]


def run_stages(run: Run) -> StepResult:
    """Run every step of an open run as Prefect task runs; call it inside a flow.

    A batch that fails, after its retries, doesn't stop the others; a store that fails does.

    Returns:
        What `steps.reduce` returned.

    Raises:
        EvalmillError: the run can't go on.
        Stopped: it was interrupted.
        Exception: the first error of a step.
    """
    with task_runner(run.plan.batches_at_once) as runner:
        try:
            return _run_all(run.plan, runner)
        except BaseException as error:
            if _is_final(error):
                run.stop()  # the runner waits for the batches in work when it is left
            raise


def task_runner(batches_at_once: int) -> Runner:
    """Return threads enough for so many batches in work.

    A score waits in its thread for its solve, hence twice as many. Between once and one and a
    half times `batches_at_once` solves go on at a time.
    """
    return ThreadPoolTaskRunner(max_workers=2 * batches_at_once)


def _run_all(plan: Plan, runner: Runner) -> StepResult:
    run_dir = str(plan.run_dir)
    keys = [spec.key for spec in plan.specs]
    scored = _run_batches(plan, runner)
    together = runner.map(
        tasks.score_all,
        {"run_dir": run_dir, "spec_key": keys, "scored": [scored[key] for key in keys]},
    )
    _wait(together)
    reduced = runner.submit(tasks.reduce, {"run_dir": run_dir, "scored": [*together]})
    result: StepResult = reduced.result()
    return result


def _run_batches(plan: Plan, runner: Runner) -> dict[str, list[Future]]:
    """Solve and score all batches; return the futures of the scores by specification.

    Batches are mapped in windows of `batches_at_once`: threads take work in the order it is
    submitted, and so a score doesn't queue behind all solves.
    """
    scored: dict[str, list[Future]] = {spec.key: [] for spec in plan.specs}
    futures: list[Future] = []
    for window in _windows(plan.batches(), plan.batches_at_once):
        keys, starts, stops = (list(column) for column in zip(*window, strict=True))
        ranges = {"run_dir": str(plan.run_dir), "spec_key": keys, "start": starts, "stop": stops}
        solves = runner.map(tasks.solve, ranges)
        # A future that is an argument by itself would be looked up at the server, each time.
        scores = runner.map(tasks.score, {**ranges, "solved": [[solve] for solve in solves]})
        for key, future in zip(keys, scores, strict=True):
            scored[key].append(future)
        futures += [*solves, *scores]
    _wait(futures)
    return scored


def _wait(futures: Sequence[Future]) -> None:
    """Wait for all, or until one shows that the run can't go on; raise the first error."""
    first: Exception | None = None
    for future in as_completed(list(futures)):
        future.wait()
        if future.state.is_completed():
            continue  # asking for its result would cost as much as the rest of the task run
        try:
            future.result()
        except Exception as error:
            if _is_final(error):
                raise
            first = first or error
    if first is not None:
        raise first


def _is_final(error: BaseException) -> bool:
    """Return whether the run can't go on after this: the store, an interruption, a signal."""
    return isinstance(error, EvalmillError | Stopped) or not isinstance(error, Exception)


def _windows(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while window := list(islice(items, size)):
        yield window
