"""Deployments are what the file says, and schedules stay as people left them."""

from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
import yaml
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.responses import DeploymentResponse

from flows.client import connected
from flows.deployable.deploy import deploy
from flows.server import ServerInfo
from tasks_lib.errors import DefinitionError

NIGHTLY = {"slug": "nightly", "cron": "20 4 * * *", "timezone": "Europe/Berlin"}


def written(name: str = "sums", **changes: object) -> Path:
    """Write a file of one deployment into the working folder."""
    Path("run.yaml").touch()
    entry = {
        "name": name,
        "entrypoint": "flows.deployable.evaluate.evaluate",
        "parameters": {"file": "run.yaml"},
        "work_pool": {"name": "evalmill-tests"},
        "concurrency_limit": {"limit": 1, "collision_strategy": "ENQUEUE"},
        "schedules": [NIGHTLY],
        **changes,
    }
    file = Path("prefect.yaml")
    file.write_text(yaml.safe_dump({"deployments": [entry]}), encoding="utf-8")
    return file


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def stored(client: SyncPrefectClient, name: str = "sums") -> DeploymentResponse:
    return client.read_deployment_by_name(f"evaluate/{name}")


@pytest.mark.prefect
def test_a_deployment_is_made_with_pool_schedule_limit_and_form(
    prefect_server: ServerInfo,
) -> None:
    written("made")
    (made,) = deploy()
    assert made.name == "evaluate/made"
    assert made.schedules == ("20 4 * * * Europe/Berlin",)
    assert made.url.startswith(prefect_server.ui_url)
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        deployment = stored(client, "made")
        pool = client.read_work_pool("evalmill-tests")
    assert pool.type == "process"
    assert pool.base_job_template["variables"]
    assert deployment.global_concurrency_limit is not None
    assert deployment.global_concurrency_limit.limit == 1
    assert deployment.parameters == {"file": "run.yaml"}
    (step,) = deployment.pull_steps or []
    assert str(Path.cwd()) in str(step)
    form = (deployment.parameter_openapi_schema or {})["properties"]
    assert form["limit"]["title"] == "Samples"
    assert "default" in form["limit"]


@pytest.mark.prefect
@pytest.mark.parametrize("paused", ["schedule", "deployment"])
def test_what_a_person_paused_stays_paused(paused: str, prefect_server: ServerInfo) -> None:
    """BR-096: deploying again doesn't switch it on."""
    written(paused)
    deploy()
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        deployment = stored(client, paused)
        if paused == "schedule":
            schedule = deployment.schedules[0]
            client.update_deployment_schedule(deployment.id, schedule.id, active=False)
        else:
            client.pause_deployment(deployment.id)
    (again,) = deploy()
    assert again.schedules == ("20 4 * * * Europe/Berlin (paused)",)
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        deployment = stored(client, paused)
    assert deployment.paused or not deployment.schedules[0].active


@pytest.mark.prefect
@pytest.mark.parametrize("schedules", [None, [], [{**NIGHTLY, "slug": "other"}]])
def test_a_schedule_the_file_no_longer_names_is_removed(
    schedules: object, prefect_server: ServerInfo
) -> None:
    """BR-096: with schedules null or [] none remains."""
    written("fewer")
    deploy()
    written("fewer", schedules=schedules)
    (after,) = deploy()
    assert len(after.schedules) == (1 if schedules else 0)
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        names = [schedule.slug for schedule in stored(client, "fewer").schedules]
    assert names == (["other"] if schedules else [])


def test_nights_keep_their_hour_when_clocks_change() -> None:
    """BR-092: the shift to daylight saving time moves no run and doubles none."""
    from prefect.server.schemas.schedules import CronSchedule

    zone = ZoneInfo("America/New_York")
    schedule = CronSchedule(cron="20 0 * * *", timezone="America/New_York")
    start = datetime(2026, 3, 8, 0, 30, tzinfo=zone)
    dates = [date.astimezone(zone).isoformat() for date in schedule._get_dates_generator(4, start)]
    assert dates == [f"2026-03-{day:02}T00:20:00-04:00" for day in range(9, 13)]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({"schedules": [{"cron": "20 4 * * *"}]}, "timezone", id="no time zone"),
        pytest.param(
            {"schedules": [{**NIGHTLY, "timezone": "Mars/Base"}]}, "timezone", id="no such zone"
        ),
        pytest.param({"schedules": [{**NIGHTLY, "cron": "at four"}]}, "cron", id="no cron"),
        pytest.param({"schedule": None, "nights": 3}, "nights", id="an unknown key"),
        pytest.param({"entrypoint": "flows.nowhere.flow"}, "can't be loaded", id="no such flow"),
        pytest.param(
            {"parameters": {"file": "gone.yaml"}}, "'gone.yaml', which is not in", id="no such file"
        ),
        pytest.param(
            {"parameters": {"limits": 3}}, "parameter 'limits'", id="an unknown parameter"
        ),
    ],
)
def test_a_wrong_file_is_refused_before_a_server_is_asked(
    changes: dict[str, object], problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    file = written(**changes)  # type: ignore[arg-type]
    with pytest.raises(DefinitionError, match=problem):
        deploy(file)


def test_without_any_file_it_says_which_it_looked_for() -> None:
    with pytest.raises(DefinitionError, match=r"deployments/prefect.yaml and no prefect.yaml"):
        deploy()


def test_the_shipped_deployments_are_right(monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Path(__file__).parents[3]
    monkeypatch.chdir(repository)
    monkeypatch.setenv("EVALMILL_HOME", "/dev/null/home")
    with pytest.raises(Exception, match="EVALMILL_HOME"):
        deploy()
