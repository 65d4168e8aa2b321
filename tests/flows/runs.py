"""Small real runs, and what a Prefect server knows of them."""

import logging
import time
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from prefect.client.orchestration import SyncPrefectClient
from prefect.client.schemas import FlowRun, TaskRun
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterId,
    LogFilter,
    LogFilterFlowRunId,
    LogFilterLevel,
)
from prefect.client.schemas.objects import Artifact

from tasks_lib.plan import RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import resolve
from tasks_lib.runs.run import Run
from tasks_lib.runs.start import start_run
from tests.benchmarks.workload import write_run_file


def begun(folder: Path, samples: int, batch_size: int | None = None, url: str | None = None) -> Run:
    """Begin a run of so many sums in `folder`."""
    file = write_run_file(folder / "files", samples, url)
    settings = RunSettings(store=folder / "store", batch_size=batch_size)
    return start_run(*plan_run(resolve(file), settings))


def until(done: Callable[[], bool], seconds: float = 60) -> None:
    """Wait until `done`, which the Prefect server notes a little later than it happens."""
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline, "took too long"
        time.sleep(0.1)


def task_runs(client: SyncPrefectClient, flow_run_id: str, number: int) -> list[TaskRun]:
    """Return the task runs of a flow run, once there are so many and all have ended."""
    found: list[TaskRun] = []

    def complete() -> bool:
        only = FlowRunFilter(id=FlowRunFilterId(any_=[UUID(flow_run_id)]))
        found[:] = client.read_task_runs(flow_run_filter=only)
        ended = [run for run in found if run.state is not None and run.state.is_final()]
        return len(ended) == number

    until(complete)
    return found


def flow_run(client: SyncPrefectClient, flow_run_id: str) -> FlowRun:
    """Return a flow run."""
    return client.read_flow_run(UUID(flow_run_id))


def warnings(client: SyncPrefectClient, flow_run_id: str) -> str:
    """Return what a flow run's log warns of, once it warns of something."""
    found: list[str] = []
    this = LogFilter(
        flow_run_id=LogFilterFlowRunId(any_=[UUID(flow_run_id)]),
        level=LogFilterLevel(ge_=logging.WARNING, le_=logging.WARNING),
    )

    def logged() -> bool:
        found[:] = [log.message for log in client.read_logs(this)]
        return bool(found)

    until(logged)
    return "\n".join(found)


def artifacts(client: SyncPrefectClient, flow_run_id: str) -> dict[str, Artifact]:
    """Return the artifacts of a flow run by type."""
    only = FlowRunFilter(id=FlowRunFilterId(any_=[UUID(flow_run_id)]))
    return {str(one.type): one for one in client.read_artifacts(flow_run_filter=only)}
