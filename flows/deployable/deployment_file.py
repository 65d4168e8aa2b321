"""What may be written in a file of deployments: the part of `prefect.yaml` that we use."""

from pathlib import Path
from typing import Any, Literal

from prefect.client.schemas.schedules import CronSchedule
from pydantic import Field, ValidationError, model_validator

from tasks_lib.base import Definition
from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import Document, validate
from tasks_lib.loading.files import bounds_of
from tasks_lib.loading.reader import Reader


class ScheduleEntry(Definition):
    """When a deployment runs by itself."""

    cron: str
    """Minute, hour, day of month, month, day of week."""
    timezone: str
    """IANA name of the time zone the hours are meant in, such as `Europe/Berlin`."""
    slug: str | None = None
    """Name of the schedule within its deployment."""
    day_or: bool = True
    """Whether day of month and day of week are joined by "or", as cron does."""
    active: bool = True
    """Whether a new schedule starts at once; one that exists stays as people left it."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters that its runs take instead of the deployment's."""

    @model_validator(mode="after")
    def _check(self) -> "ScheduleEntry":
        try:
            self.schedule()
        except ValidationError as error:
            raise ValueError(error.errors()[0]["msg"]) from None
        return self

    def schedule(self) -> CronSchedule:
        """Return Prefect's form of it."""
        return CronSchedule(cron=self.cron, timezone=self.timezone, day_or=self.day_or)

    @property
    def name(self) -> str:
        """What tells it from the deployment's other schedules."""
        return self.slug or self.cron


class PoolEntry(Definition):
    """The work pool whose workers run a deployment."""

    name: str
    """Its name; made as a process pool when there is none of this name."""


class LimitEntry(Definition):
    """How many runs of a deployment may go on at once."""

    limit: int = Field(ge=1)
    """That many."""
    collision_strategy: Literal["ENQUEUE", "CANCEL_NEW"] = "ENQUEUE"
    """What becomes of one more: it waits, or is cancelled."""


class DeploymentEntry(Definition):
    """One deployment."""

    name: str
    """Its name; with the flow's before it, `flow/name`, it is how the API finds it."""
    entrypoint: str
    """Importable path of the flow, `package.module.flow`, or `file.py:flow`."""
    work_pool: PoolEntry
    """Where it runs."""
    description: str | None = None
    """What it is for."""
    tags: list[str] = Field(default_factory=list)
    """Tags of the deployment and its runs."""
    parameters: dict[str, Any] = Field(default_factory=dict)
    """Parameters its runs take unless told otherwise."""
    concurrency_limit: LimitEntry | None = None
    """How many of its runs may go on at once."""
    schedules: list[ScheduleEntry] | None = None
    """When it runs by itself; null or [] is never."""


class DeploymentFile(Definition):
    """A file of deployments."""

    name: str | None = None
    """Name of the project."""
    deployments: list[DeploymentEntry]
    """The deployments."""


def read_deployments(file: Path) -> DeploymentFile:
    """Read a file of deployments.

    Raises:
        DefinitionErrors: everything that is wrong with it.
    """
    path = file.absolute()
    bounds = bounds_of(path)
    reader = Reader(bounds)
    tree = reader.read(path)
    if reader.problems:
        raise DefinitionErrors(reader.problems)
    return validate(Document(path, bounds, "run", tree, reader.places), DeploymentFile)
