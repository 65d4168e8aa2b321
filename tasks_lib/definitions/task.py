"""The evaluation task: what is asked, how it is answered, how answers are scored."""

from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from tasks_lib.actions import ActionRule
from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, repeated, tag_by
from tasks_lib.definitions.parameters import ParameterSpec, check_parameter_keys
from tasks_lib.keys import UserKey
from tasks_lib.scorers import Scorer
from tasks_lib.solvers import Solver
from tasks_lib.system_tasks import SystemTask
from tasks_lib.trials import Trials

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


class ResultDataset(Definition):
    """The rows of an earlier result, with what came of them."""

    source: Literal["task_result"]
    """Where rows come from."""
    key: Annotated[str, Field(min_length=1)]
    """`<run id>/<specification's key>`, or the path of a task result log, ending in `.json`."""

    keys: ClassVar[None] = None  # rows of one result alone


AnyDataset = Annotated[
    Annotated[TaskDataset, Tag("dataset")] | Annotated[ResultDataset, Tag("task_result")],
    Discriminator(tag_by("source", "dataset")),
]
"""Where samples come from."""


class BenchmarkTask(Definition):
    """Samples, solved by a model or taken as they are, then scored."""

    type: Literal["benchmark_task"] = "benchmark_task"
    """Kind of definition."""
    evaluated_entity_type: Annotated[
        Literal["dataset", "model"] | None, Field(json_schema_extra={"deprecated": True})
    ] = None
    """Ignored: a task with a solver evaluates a model, one without evaluates a dataset."""
    dataset: AnyDataset | None = None
    """Where samples come from; a task without solver may leave it to the evaluation."""
    solver: Solver | None = None
    """How the evaluated model answers a sample; absent in tasks that evaluate a dataset."""
    scorers: tuple[Scorer, ...] = ()
    """How answers, or the samples themselves, are scored."""
    trials: Trials | None = None
    """How often every sample is solved and scored; once when absent."""
    actions: tuple[ActionRule, ...] | None = None
    """Rules that leave rows out of the metrics."""

    @model_validator(mode="after")
    def _parts_fit(self) -> "BenchmarkTask":
        if self.solver is not None and self.dataset is None:
            raise ValueError("a task with a solver needs a dataset; add 'dataset: {key: …}'")
        twice = repeated([scorer.key for scorer in self.scorers if scorer.key is not None])
        if twice is not None:
            raise ValueError(f"two scorers have the key '{twice}'; rename one")
        twice = repeated([rule.key for rule in self.actions or ()])
        if twice is not None:
            raise ValueError(f"two action rules have the key '{twice}'; rename one")
        return self


TaskDefinition = Annotated[
    Annotated[BenchmarkTask, Tag("benchmark_task")] | Annotated[SystemTask, Tag("system_task")],
    Discriminator(tag_by("type", "benchmark_task")),
]
"""What a task does."""


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

    definition: TaskDefinition
    """What is done."""
