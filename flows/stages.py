"""The stages of a run inside a Prefect flow: which task runs follow which."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, TypeVar

from prefect.futures import PrefectFuture, as_completed
from prefect.task_runners import ThreadPoolTaskRunner

from flows import tasks
from tasks_lib.errors import EvalmillError, Stopped
from tasks_lib.plan import Plan
from tasks_lib.runtime import StepResult

T = TypeVar("T")
Future = PrefectFuture[Any]
Runner = ThreadPoolTaskRunner[Any]


def run_stages(plan: Plan) -> StepResult:
    """Run every step of the plan as Prefect task runs; call it inside a flow.

    The run is open in this process. A batch that fails, after its retries, doesn't stop the
    others.

    Returns:
        What `steps.reduce` returned.

    Raises:
        EvalmillError: the run can't go on.
        Stopped: it was interrupted.
        Exception: the first error of a step.
    """
    run_dir = str(plan.run_dir)
    keys = [spec.key for spec in plan.specs]
    with task_runner(plan.batches_at_once) as runner:
        scored = _run_batches(plan, runner)
        together = runner.map(
            tasks.score_all,
            {"run_dir": run_dir, "spec_key": keys, "scored": [scored[key] for key in keys]},
        )
        _wait(together)
        reduced = runner.submit(tasks.reduce, {"run_dir": run_dir, "scored": [*together]})
        result: StepResult = reduced.result()
    return result


def task_runner(batches_at_once: int) -> Runner:
    """Return threads enough for so many batches in work.

    A score waits in its thread for its solve, hence twice as many. Between once and one and a
    half times `batches_at_once` solves go on at a time.
    """
    return ThreadPoolTaskRunner(max_workers=2 * batches_at_once)


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
    first: BaseException | None = None
    for future in as_completed(list(futures)):
        try:
            future.result()
        except (EvalmillError, Stopped):
            raise
        except Exception as error:
            first = first or error
    if first is not None:
        raise first


def _windows(items: Iterator[T], size: int) -> Iterator[list[T]]:
    while window := list(islice(items, size)):
        yield window
