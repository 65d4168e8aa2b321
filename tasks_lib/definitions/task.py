"""The evaluation task: what is asked, how it is answered, how answers are scored."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, repeated
from tasks_lib.definitions.parameters import ParameterSpec, check_parameter_keys
from tasks_lib.keys import UserKey
from tasks_lib.scorers import Scorer
from tasks_lib.solvers import Solver

ConfigSpec = Annotated[tuple[ParameterSpec, ...], AfterValidator(check_parameter_keys)]
"""Parameters with different keys."""


class TaskDataset(Definition):
    """The dataset, or the datasets read side by side, that samples come from."""

    source: Literal["dataset"] = "dataset"
    """Where rows come from."""
    key: UserKey | None = None
    """Key of the one dataset."""
    keys: Annotated[tuple[UserKey, ...], Field(min_length=1)] | None = None
    """Keys of several datasets, whose rows are aligned by position."""

    @model_validator(mode="after")
    def _one_form(self) -> "TaskDataset":
        if (self.key is None) == (self.keys is None):
            raise ValueError("write either 'key' or 'keys'")
        return self


class BenchmarkTask(Definition):
    """Samples, solved by a model or taken as they are, then scored."""

    type: Literal["benchmark_task"] = "benchmark_task"
    """Kind of definition."""
    evaluated_entity_type: Annotated[
        Literal["dataset", "model"] | None, Field(json_schema_extra={"deprecated": True})
    ] = None
    """Ignored: a task with a solver evaluates a model, one without evaluates a dataset."""
    dataset: TaskDataset | None = None
    """Where samples come from; a task without solver may leave it to the evaluation."""
    solver: Solver | None = None
    """How the evaluated model answers a sample; absent in tasks that evaluate a dataset."""
    scorers: tuple[Scorer, ...] = ()
    """How answers, or the samples themselves, are scored."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "BenchmarkTask":
        if self.solver is not None and self.dataset is None:
            raise ValueError("a task with a solver needs a dataset; add 'dataset: {key: …}'")
        twice = repeated([scorer.key for scorer in self.scorers if scorer.key is not None])
        if twice is not None:
            raise ValueError(f"two scorers have the key '{twice}'; rename one")
        return self


class TaskHeader(Definition):
    """All of a task but its definition, which is typed once its config is known."""

    key: UserKey
    """Name that evaluations use for the task."""
    display_name: DisplayName
    """Name shown to people."""
    description: str
    """What the task measures, in a sentence."""
    long_description: str | None = None
    """What the task measures, in Markdown."""
    tasks: tuple[Literal["chat_completion", "embeddings", "custom"], ...] = ()
    """Kinds of model the task is for; informational."""
    config_spec: ConfigSpec = ()
    """Parameters, used in the definition as `<< config.KEY >>`."""
    tags: tuple[str, ...] = ()
    """Words to find the task by."""


class Task(TaskHeader):
    """An evaluation task."""

    definition: BenchmarkTask
    """What is done."""
