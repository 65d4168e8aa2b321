"""The night a scheduled result belongs to, also when clocks change (BR-092)."""

from datetime import UTC, datetime
from uuid import uuid4

import pytest
from prefect.client.schemas import FlowRun
from prefect.client.schemas.objects import CreatedBy, DeploymentSchedule
from prefect.client.schemas.schedules import CronSchedule

from flows.deployable.scheduled import local_and_utc


def schedule(zone: str) -> DeploymentSchedule:
    return DeploymentSchedule(
        id=uuid4(), schedule=CronSchedule(cron="20 0 * * *", timezone=zone), active=True
    )


def run(due: datetime, maker: DeploymentSchedule | None = None) -> FlowRun:
    created_by = CreatedBy(id=maker.id, type="SCHEDULE") if maker else None
    return FlowRun(flow_id=uuid4(), expected_start_time=due, created_by=created_by)


@pytest.mark.parametrize(
    ("due", "local"),
    [
        pytest.param(
            datetime(2026, 3, 8, 5, 20, tzinfo=UTC),
            "2026-03-08T00:20:00-05:00",
            id="the night before the clocks go forward",
        ),
        pytest.param(
            datetime(2026, 3, 9, 4, 20, tzinfo=UTC),
            "2026-03-09T00:20:00-04:00",
            id="the night after",
        ),
    ],
)
def test_the_local_time_is_the_schedules_own(due: datetime, local: str) -> None:
    nightly = schedule("America/New_York")
    found = local_and_utc(run(due, nightly), [schedule("Europe/Berlin"), nightly])
    assert found == {"utc": due.isoformat(timespec="seconds"), "local": local}


def test_schedules_of_several_zones_leave_a_run_of_unknown_origin_in_utc() -> None:
    due = datetime(2026, 3, 9, 4, 20, tzinfo=UTC)
    found = local_and_utc(run(due), [schedule("Europe/Berlin"), schedule("Asia/Tokyo")])
    assert found is not None
    assert found["local"] == found["utc"]
