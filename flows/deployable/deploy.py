"""Creating and updating Prefect deployments from a file."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

from prefect import Flow
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.client.schemas.actions import DeploymentScheduleCreate, WorkPoolCreate
from prefect.client.schemas.objects import (
    ConcurrencyLimitStrategy,
    ConcurrencyOptions,
    DeploymentSchedule,
)
from prefect.client.schemas.responses import DeploymentResponse
from prefect.exceptions import ObjectNotFound
from prefect.flows import load_flow_from_entrypoint
from prefect.utilities.callables import parameter_schema
from prefect.utilities.urls import url_for
from prefect.workers.process import ProcessWorker

from flows.client import connected, find_api
from flows.deployable.deployment_file import DeploymentEntry, ScheduleEntry, read_deployments
from tasks_lib.errors import DefinitionError

USUAL_FILES = (Path("deployments/prefect.yaml"), Path("prefect.yaml"))


@dataclass(frozen=True)
class Deployed:
    """A deployment as it now stands.

    Attributes:
        name: `flow/deployment`.
        work_pool: whose workers run it.
        schedules: each in words; empty when it never runs by itself.
        url: where it is in the UI.
    """

    name: str
    work_pool: str
    schedules: tuple[str, ...]
    url: str


def deploy(file: Path | None = None) -> list[Deployed]:
    """Create or update the deployments of a file; return them as they now stand.

    They run in the current working folder, which the paths in their parameters start at. A
    schedule or deployment that a person paused stays paused; one that the file no longer
    names is removed.

    Args:
        file: None looks for `deployments/prefect.yaml`, then `prefect.yaml`.

    Raises:
        DefinitionError: the file is wrong, or there is none.
        ServerUnavailable: no Prefect API can be reached.
    """
    found = file or next((usual for usual in USUAL_FILES if usual.exists()), None)
    if found is None:
        raise DefinitionError(
            f"there is no {' and no '.join(map(str, USUAL_FILES))}",
            fix="name the file: evalmill deploy FILE",
        )
    entries = read_deployments(found).deployments
    flows = [_flow(entry, found) for entry in entries]
    with connected(find_api()), get_client(sync_client=True) as client:
        return [_deploy(client, *pair) for pair in zip(entries, flows, strict=True)]


def _flow(entry: DeploymentEntry, file: Path) -> "Flow[..., object]":
    """Return the flow of an entry, once its parameters are known to fit."""
    try:
        flow: Flow[..., object] = load_flow_from_entrypoint(
            entry.entrypoint, use_placeholder_flow=False
        )
    except Exception as error:
        raise DefinitionError(
            f"the flow '{entry.entrypoint}' of deployment '{entry.name}' can't be loaded: {error}",
            str(file),
        ) from None
    known = set(flow.parameters.properties)
    for unknown in sorted(set(entry.parameters) - known):
        raise DefinitionError(
            f"deployment '{entry.name}' has a parameter '{unknown}' that its flow doesn't know",
            str(file),
            f"use one of {', '.join(sorted(known))}",
        )
    named = entry.parameters.get("file")
    if isinstance(named, str) and not Path(named).is_file():
        raise DefinitionError(
            f"deployment '{entry.name}' runs '{named}', which is not in {Path.cwd()}",
            str(file),
            "call evalmill deploy in the folder that the path starts at",
        )
    return flow


def _deploy(
    client: SyncPrefectClient, entry: DeploymentEntry, flow: "Flow[..., object]"
) -> Deployed:
    """Create or update one deployment."""
    _make_pool(client, entry.work_pool.name)
    before = _existing(client, f"{flow.name}/{entry.name}")
    kept = {_name(schedule): schedule.active for schedule in before.schedules} if before else {}
    entries = entry.schedules or []
    limit = entry.concurrency_limit
    identity = client.create_deployment(
        flow_id=client.create_flow_from_name(flow.name),
        name=entry.name,
        description=entry.description,
        tags=entry.tags,
        parameters=entry.parameters,
        entrypoint=entry.entrypoint,
        work_pool_name=entry.work_pool.name,
        schedules=[_schedule(one, kept.get(one.name, one.active)) for one in entries],
        paused=before.paused if before else False,
        concurrency_limit=limit.limit if limit else None,
        concurrency_options=ConcurrencyOptions(
            collision_strategy=ConcurrencyLimitStrategy(limit.collision_strategy)
        )
        if limit
        else None,
        parameter_openapi_schema=parameter_schema(flow).model_dump_for_openapi(),
        enforce_parameter_schema=True,
        pull_steps=[
            {"prefect.deployments.steps.set_working_directory": {"directory": str(Path.cwd())}}
        ],
    )
    _remove_others(client, identity, {one.name for one in entries})
    after = client.read_deployment(identity)
    return Deployed(
        f"{flow.name}/{entry.name}",
        entry.work_pool.name,
        tuple(_words(after, schedule) for schedule in after.schedules),
        url_for("deployment", obj_id=str(identity)) or "",
    )


def _make_pool(client: SyncPrefectClient, name: str) -> None:
    """Make a process work pool unless there is one of this name."""
    try:
        client.read_work_pool(name)
    except ObjectNotFound:
        template = ProcessWorker.get_default_base_job_template()
        client.create_work_pool(
            WorkPoolCreate(name=name, type="process", base_job_template=template)
        )


def _existing(client: SyncPrefectClient, name: str) -> DeploymentResponse | None:
    """Return the deployment of this name, None when there is none."""
    try:
        return client.read_deployment_by_name(name)
    except ObjectNotFound:
        return None


def _schedule(entry: ScheduleEntry, active: bool) -> DeploymentScheduleCreate:
    """Return Prefect's form of a schedule."""
    return DeploymentScheduleCreate(
        schedule=entry.schedule(), active=active, slug=entry.slug, parameters=entry.parameters
    )


def _remove_others(client: SyncPrefectClient, deployment: UUID, names: Iterable[str]) -> None:
    """Remove the schedules of a deployment that are not among `names`."""
    for schedule in client.read_deployment_schedules(deployment):
        if _name(schedule) not in names:
            client.delete_deployment_schedule(deployment, schedule.id)


def _name(schedule: DeploymentSchedule) -> str:
    """Return what tells a schedule from the deployment's others."""
    return schedule.slug or str(getattr(schedule.schedule, "cron", schedule.schedule))


def _words(deployment: DeploymentResponse, schedule: DeploymentSchedule) -> str:
    """Return a schedule in words."""
    cron = getattr(schedule.schedule, "cron", None)
    zone = getattr(schedule.schedule, "timezone", None)
    when = f"{cron} {zone}" if cron else str(schedule.schedule)
    return when if schedule.active and not deployment.paused else f"{when} (paused)"
