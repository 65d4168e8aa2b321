"""The run file: an evaluation with everything it needs, and the values to run it with."""

from typing import Any

from pydantic import Field

from tasks_lib.base import Definition
from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.evaluation import Evaluation, RunConfig
from tasks_lib.definitions.model import ModelEntry
from tasks_lib.definitions.task import Task


class RunFile(Definition):
    """What one run needs; every entity may be a `$ref` to a file of its own."""

    models: tuple[ModelEntry, ...] = ()
    """Models; an entry may be `$provider: <provider>/<model>`."""
    model_adapters: tuple[ModelAdapter, ...] = ()
    """Adapters that connections name."""
    datasets: tuple[Dataset, ...] = ()
    """Datasets."""
    tasks: tuple[Task, ...] = ()
    """Tasks."""
    evaluation: Evaluation | None = None
    """The evaluation that is run."""
    config: dict[str, Any] = Field(default_factory=dict)
    """Values of the evaluation's parameters."""
    run_config: RunConfig = RunConfig()
    """How much is run, and whether earlier replies are used again."""
    secrets: dict[str, str] = Field(default_factory=dict)
    """Secrets for `<< secrets.NAME >>`; write values as `$NAME`, which is what is stored."""
