"""A plan as a Prefect flow. The flow decides nothing."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from prefect import Flow
from prefect.exceptions import TerminationSignal
from prefect.logging import get_run_logger
from prefect.runtime import flow_run
from prefect.states import Failed
from prefect.utilities.urls import url_for

from flows.artifacts import Mirror
from flows.client import connected, find_api, hush_task_runs
from flows.collector import calm_garbage_collection
from flows.global_limit import named_limit
from flows.secret_blocks import from_blocks
from flows.stages import run_stages
from flows.store import store_folder
from tasks_lib import exit_codes
from tasks_lib.errors import Stopped
from tasks_lib.plan import Plan, RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import Overrides, ResolvedEvaluation, resolve
from tasks_lib.runs.abort import abort_run
from tasks_lib.runs.record import write_record
from tasks_lib.runs.run import Run, StepResult
from tasks_lib.runs.start import start_run, undeclared_secrets

FAILED_NAMES = {
    exit_codes.GATE_FAILED: "GateFailed",
    exit_codes.TOO_MANY_ERRORS: "TooManyErrors",
    exit_codes.OVER_BUDGET: "OverBudget",
}
"""Exit code -> name of the flow run's state in the UI."""


F = TypeVar("F", bound=Flow[[], Any])


class EvaluationFlow(Flow[[], Any]):
    """A compiled evaluation; calling it runs it and returns the run's result.

    It runs under the Prefect API that is configured, else under evalmill's own server.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with connected(find_api()):
            return super().__call__(*args, **kwargs)


def compile_evaluation(
    file_or_resolved: Path | str | ResolvedEvaluation,
    settings: RunSettings | None = None,
    **overrides: Any,
) -> EvaluationFlow:
    """Return the Prefect flow of an evaluation; each call of it is a new run.

    Args:
        file_or_resolved: a run, evaluation or task file, or what `resolve` made of one.
        settings: the store, and how to run.
        overrides: fields of `Overrides`, such as `model="mock"` or `num_samples=20`; for a
            file only.

    Raises:
        DefinitionError: the files or the data are wrong.
        TypeError: overrides for what is resolved already.
    """
    if isinstance(file_or_resolved, ResolvedEvaluation):
        if overrides:
            names = ", ".join(overrides)
            raise TypeError(f"{names}: a resolved evaluation is run as it is; give them to resolve")
        evaluation = file_or_resolved
    else:
        evaluation = resolve(Path(file_or_resolved), Overrides(**overrides))
    how = settings or RunSettings(store=store_folder())
    plan, _ = plan_run(evaluation, how)

    def evaluate() -> Any:
        return evaluate_here(evaluation, how)

    return flow_of(EvaluationFlow, plan, evaluate)


def flow_of(kind: type[F], plan: Plan, body: Callable[[], Any]) -> F:
    """Return a flow, named after the plan's evaluation, that runs `body`."""
    return kind(
        body,
        name=re.sub(r"[/%&<>]", "-", plan.evaluation.key),
        description=plan.evaluation.display_name,
        validate_parameters=False,
        persist_result=False,
    )


def evaluate_here(
    evaluation: ResolvedEvaluation,
    settings: RunSettings,
    scheduled: dict[str, str] | None = None,
) -> Any:
    """Plan and run an evaluation inside the current flow run; return the flow's value.

    Args:
        evaluation: what to evaluate.
        settings: how.
        scheduled: when a schedule wanted it, in UTC and locally.

    Raises:
        EvalmillError: the data is wrong, a model can't be opened or gives no usable reply, or
            the store failed.
    """
    secrets = from_blocks(undeclared_secrets(evaluation))
    calm_garbage_collection()
    limit = named_limit()
    run = start_run(*plan_run(evaluation, settings), secrets)
    limit.bind(run)
    run.scheduled = scheduled
    try:
        return verdict_of(run, run_in_flow(run))
    except BaseException as error:
        run.stop()
        if (cause := run.models.cause) is not None and isinstance(error, Stopped):
            abort_run(run, cause)
            raise cause from None
        if isinstance(error, Stopped | KeyboardInterrupt | TerminationSignal):
            write_record(run, "interrupted", exit_codes.INTERRUPTED)
        else:
            write_record(run, "failed", exit_codes.TOO_MANY_ERRORS)
        raise
    finally:
        run.close()


def run_in_flow(run: Run) -> StepResult:
    """Run all steps of an open run inside the current flow run, and show it in the UI.

    Raises:
        EvalmillError: the run can't go on.
        Stopped: it was interrupted.
    """
    hush_task_runs()
    run.prefect_flow_run_id = flow_run.get_id()
    with Mirror(run) as mirror:
        result = run_stages(run)
        mirror.show_metrics(result["metrics"])
    if run.warnings:
        get_run_logger().warning("\n".join(run.warnings))
    return result


def verdict_of(run: Run, result: StepResult) -> Any:
    """Return what a flow returns for a run that reached its end.

    Returns:
        The result with the run's id and folder; a failed state, named after what failed,
        when a gate failed, more samples failed than allowed, or the budget was used up.
    """
    if result["exit_code"] in FAILED_NAMES:
        words = "; ".join(result["warnings"]) or "see the run's metrics"
        return Failed(name=FAILED_NAMES[result["exit_code"]], message=words)
    return {**result, "run_id": run.plan.run_id, "run_dir": str(run.plan.run_dir)}


def watch_url() -> str:
    """Return the address of the current flow run in the UI."""
    address = url_for("flow-run", obj_id=str(flow_run.get_id()))
    return address or "the Prefect UI"
