"""Runs that waited so long that a later one of their schedule does their work."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from prefect.client.orchestration import get_client
from prefect.client.schemas import FlowRun, State, StateType
from prefect.client.schemas.filters import (
    FlowRunFilter,
    FlowRunFilterDeploymentId,
    FlowRunFilterExpectedStartTime,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.runtime import flow_run
from prefect.states import Cancelled

BY_SCHEDULE = "auto-scheduled"
"""The tag that Prefect gives to the runs of a schedule."""

DONE_OR_TO_COME = [
    StateType.SCHEDULED,
    StateType.PENDING,
    StateType.RUNNING,
    StateType.COMPLETED,
    StateType.FAILED,
]
"""States of a run that makes an earlier one needless; one that crashed or was cancelled doesn't."""


def skip_if_overtaken() -> State[Any] | None:
    """Return the state `Skipped` for a scheduled run when a later one is due, None otherwise.

    After an outage the runs of all missed nights become due at once; the last of them does
    the work, and may have done it by now, since workers begin them in any order. A run that
    is tried again, as a person may ask, is never skipped.
    """
    with get_client(sync_client=True) as client:
        this = client.read_flow_run(UUID(str(flow_run.get_id())))
        if BY_SCHEDULE not in this.tags or this.deployment_id is None or this.run_count > 1:
            return None
        due = client.read_flow_runs(
            flow_run_filter=FlowRunFilter(
                deployment_id=FlowRunFilterDeploymentId(any_=[this.deployment_id]),
                expected_start_time=FlowRunFilterExpectedStartTime(
                    after_=this.expected_start_time, before_=datetime.now(UTC)
                ),
                state=FlowRunFilterState(type=FlowRunFilterStateType(any_=DONE_OR_TO_COME)),
            )
        )
    later = [run for run in due if _does_the_same(run, this) and _due(run) > _due(this)]
    if not later:
        return None
    return Cancelled(name="Skipped", message=f"a later run fell due at {max(map(_due, later))}")


def _does_the_same(run: FlowRun, this: FlowRun) -> bool:
    """Whether a schedule made `run`, too, and of the same parameters."""
    return BY_SCHEDULE in run.tags and run.parameters == this.parameters


def _due(run: FlowRun) -> datetime:
    """Return when a run was to start."""
    return run.expected_start_time or datetime.min.replace(tzinfo=UTC)
