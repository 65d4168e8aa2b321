"""The evaluation: tasks, each bound to a model, a config and a number of samples."""

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PositiveInt, Tag, model_validator

from tasks_lib.base import Definition
from tasks_lib.definitions.keys import DisplayName, ModelReference, repeated
from tasks_lib.definitions.task import ConfigSpec
from tasks_lib.keys import UserKey

Subsampling = Literal["head", "random"]
CachePolicy = Literal["reuse", "update", "no-cache"]

_OLD = Field(json_schema_extra={"deprecated": True})


class SpecificationTrials(Definition):
    """How often every sample is solved and scored."""

    num_trials: PositiveInt
    """Trials of every sample; 1 turns trials off."""


class RunTrials(Definition):
    """How often every sample is solved and scored, in all tasks of a run."""

    num_trials: Annotated[int, Field(ge=2)]
    """Trials of every sample, at least two."""


class Repeatability(Definition):
    """How often all of a specification is run on the same samples, to see what results vary."""

    num_runs: Annotated[int, Field(ge=2)]
    """Runs, at least two; metrics are reported as their mean and spread over the runs."""


class TaskSpecification(Definition):
    """One task bound to a model, a config and a number of samples."""

    type: Literal["standard"] = "standard"
    """Kind of specification."""
    key: UserKey | None = None
    """Name of the specification in results; the task's key when absent."""
    task_key: UserKey
    """Key of the task."""
    task_config: dict[str, Any] = Field(default_factory=dict)
    """Values of the task's parameters; may hold `<< config.x >>` of the evaluation."""
    model_key: ModelReference | None = None
    """Key of the evaluated model; needed when the task has a solver."""
    dataset_key: Annotated[UserKey | None, _OLD] = None
    """Now written as `dataset_key` in `task_config`."""
    num_samples: PositiveInt | None = None
    """Samples used at most; the run's number when absent."""
    subsampling: Subsampling | None = None
    """Which samples are used: the first ones, or some drawn with a fixed seed."""
    trials: SpecificationTrials | None = None
    """How often every sample is solved; the run's or the task's number when absent."""
    repeatability: Repeatability | None = None
    """How often the specification is run, to see what results vary; it can't have trials."""
    task_result_log_path: Annotated[str, Field(min_length=1)] | None = None
    """A task result log, relative to this file; its results are taken over, nothing is run."""
    display_name: DisplayName | None = None
    """Name shown to people; made of task and model when absent."""

    @property
    def spec_key(self) -> str:
        """Name of the specification in results."""
        return self.key or self.task_key


class RepeatedSpecification(Definition):
    """What is run again: one specification of an evaluation, or all of them."""

    evaluation_key: UserKey
    """Key of the evaluation; this one's, or that of another in the project."""
    task_specification_key: UserKey | None = None
    """Key of the specification; all of the evaluation when absent."""


class RepeatabilitySpecification(Definition):
    """Other specifications, each run several times on the same samples."""

    type: Literal["repeatability"]
    """Kind of specification."""
    key: UserKey
    """Name in results; where several are run again, each adds its own after a `_`."""
    repeatability_config: Repeatability
    """How often they are run."""
    num_samples: PositiveInt | None = None
    """Samples used at most; each specification's own number when absent."""
    subsampling: Subsampling | None = None
    """Which samples are used; each specification's own choice when absent."""
    inputs: Annotated[tuple[RepeatedSpecification, ...], Field(min_length=1)]
    """What is run again."""

    @property
    def spec_key(self) -> str:
        """Name of the specification in results."""
        return self.key


def _kind(value: Any) -> str:
    kind = value.get("type") if isinstance(value, dict) else getattr(value, "type", None)
    return kind if isinstance(kind, str) else "standard"


AnySpecification = Annotated[
    Annotated[TaskSpecification, Tag("standard")]
    | Annotated[RepeatabilitySpecification, Tag("repeatability")],
    Discriminator(_kind),
]
"""What an evaluation may list; one without `type` is a standard one."""


class Evaluation(Definition):
    """A set of configured tasks, run together."""

    key: UserKey
    """Name of the evaluation."""
    display_name: DisplayName
    """Name shown to people."""
    description: str = ""
    """What the evaluation is for, in a sentence."""
    long_description: str | None = None
    """What the evaluation is for, in Markdown."""
    config_spec: ConfigSpec = ()
    """Parameters, used in the task specifications as `<< config.KEY >>`."""
    task_specifications: tuple[AnySpecification, ...] = ()
    """The tasks and what they are bound to."""
    tags: tuple[str, ...] = ()
    """Words to find the evaluation by."""
    use_cases: Literal["any"] | tuple[str, ...] = "any"
    """What the evaluated models are used for; informational."""
    domains: Literal["any"] | tuple[str, ...] = "any"
    """Fields the evaluated models work in; informational."""
    providers: Literal["any"] | tuple[str, ...] = "any"
    """Whose models are evaluated; informational."""
    mode: Annotated[Literal["debug", "full"] | None, _OLD] = None
    """`debug` uses 10 samples of each task; now `num_samples` of `run_config`."""
    num_samples: Annotated[PositiveInt | None, _OLD] = None
    """Now `num_samples` of `run_config`."""
    subsampling: Annotated[Subsampling | None, _OLD] = None
    """Now `subsampling` of `run_config`."""
    cache_policy: Annotated[CachePolicy | None, _OLD] = None
    """Now `cache_policy` of `run_config`."""

    @model_validator(mode="after")
    def _keys_differ(self) -> "Evaluation":
        twice = repeated([specification.spec_key for specification in self.task_specifications])
        if twice is not None:
            raise ValueError(
                f"two task specifications have the key '{twice}'; give one a 'key' of its own"
            )
        return self


class RunConfig(Definition):
    """Settings of a run that hold for all its tasks."""

    num_samples: PositiveInt | None = None
    """Samples of each task at most; all when absent."""
    subsampling: Subsampling | None = None
    """Which samples are used: the first ones, or some drawn with a fixed seed."""
    cache_policy: CachePolicy | None = None
    """`reuse` earlier replies (default), `update` them, or use `no-cache`."""
    trials_config: RunTrials | None = None
    """How often every sample is solved; the tasks' own number when absent."""
