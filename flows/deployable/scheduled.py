"""When a scheduled run was due, in UTC and in its schedule's own time zone."""

from datetime import UTC, datetime
from uuid import UUID
from zoneinfo import ZoneInfo

from prefect.client.orchestration import get_client
from prefect.client.schemas import FlowRun
from prefect.client.schemas.objects import DeploymentSchedule
from prefect.runtime import flow_run

from flows.deployable.overtaken import BY_SCHEDULE


def due_time() -> dict[str, str] | None:
    """Return when the current flow run was due; None when nobody scheduled it.

    Returns:
        `utc`, and `local` in the time zone of the schedule, both ISO 8601: the local date is
        the night a result belongs to, also when the run was late.
    """
    with get_client(sync_client=True) as client:
        run = client.read_flow_run(UUID(str(flow_run.get_id())))
        if BY_SCHEDULE not in run.tags or run.deployment_id is None:
            return None
        schedules = client.read_deployment(run.deployment_id).schedules
    return local_and_utc(run, schedules)


def local_and_utc(run: FlowRun, schedules: list[DeploymentSchedule]) -> dict[str, str] | None:
    """Return the due time of `run`, made by one of its deployment's `schedules`."""
    due = run.expected_start_time
    if due is None:
        return None
    maker = run.created_by.id if run.created_by else None
    made = [one for one in schedules if one.id == maker] or schedules
    zones = {getattr(one.schedule, "timezone", None) for one in made}
    zone = zones.pop() if len(zones) == 1 else None
    return {
        "utc": _text(due.astimezone(UTC)),
        "local": _text(due.astimezone(ZoneInfo(zone or "UTC"))),
    }


def _text(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
