"""What a resolved evaluation is: everything a run needs to know, settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tasks_lib.config import has_placeholder
from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.evaluation import CachePolicy, Subsampling
from tasks_lib.definitions.model import Model
from tasks_lib.definitions.task import ResultDataset, Task
from tasks_lib.resolve.serialize import dumped, plain, references, stored_model, yaml_of
from tasks_lib.scorers import Scorer
from tasks_lib.scorers.base import AllSamplesScorer


@dataclass(frozen=True)
class Overrides:
    """What the command line says; it wins over every file.

    Attributes:
        model: key of the evaluated model of every specification, `provider/model`,
            `provider$key`, or the path of a model file.
        dataset: for a task file: key of a dataset, or the path of a dataset file or a data file.
        settings: config parameter -> value as text.
        num_samples: samples of every specification.
        num_trials: trials of every specification; 1 is none.
        env_file: a further `.env` file, which wins over the one in the working directory.
        allow_outside: whether definitions may name files outside of their project.
    """

    model: str | None = None
    dataset: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)
    num_samples: int | None = None
    subsampling: Subsampling | None = None
    num_trials: int | None = None
    cache_policy: CachePolicy | None = None
    env_file: Path | None = None
    allow_outside: bool = False


NO_OVERRIDES = Overrides()
"""The files as they are."""


@dataclass(frozen=True)
class ResolvedSpec:
    """One task, configured and bound to its datasets and its model.

    Attributes:
        task: typed, with its config put in.
        config: the value of every parameter, defaults included, before `values_mapping`.
        datasets: parameter name, or `dataset` where the task takes a single one -> dataset;
            file paths are absolute.
        model_key: the evaluated model; None when the task calls none.
        num_samples: None is all.
        num_trials: 1 is no trials.
        num_runs: runs whose metrics are compared (repeatability); 1 is none. Only one of
            `num_trials` and `num_runs` is more than 1.
        written: the task as written, its config not put in.
        log: a task result log, absolute, whose results are taken over instead of running.
    """

    key: str
    display_name: str
    task: Task
    config: Mapping[str, Any]
    datasets: Mapping[str, Dataset]
    model_key: str | None
    num_samples: int | None
    subsampling: Subsampling
    num_trials: int
    num_runs: int
    written: Mapping[str, Any] = field(repr=False)
    log: Path | None = None

    @property
    def scorers(self) -> dict[str, Scorer]:
        """The task's scorers by their keys, which they all have by now."""
        return {scorer.key or scorer.type: scorer for scorer in self.task.definition.scorers}

    @property
    def result_key(self) -> str | None:
        """The earlier result whose rows are the samples; None where they are of datasets."""
        dataset = self.task.definition.dataset
        return dataset.key if isinstance(dataset, ResultDataset) else None

    @property
    def repeats(self) -> int:
        """How often every sample is solved and scored; the column `trial` numbers the times."""
        return max(self.num_trials, self.num_runs)

    @property
    def side_by_side(self) -> tuple[str, ...] | None:
        """What the rows of several datasets are called by; None where samples are rows."""
        dataset = self.task.definition.dataset
        return tuple(self.datasets) if dataset is not None and dataset.keys else None

    @property
    def scored_whole(self) -> bool:
        """Whether nothing looks at a sample by itself: neither a solver nor a scorer."""
        definition = self.task.definition
        return definition.solver is None and all(
            isinstance(scorer, AllSamplesScorer) for scorer in definition.scorers
        )


@dataclass(frozen=True)
class ResolvedEvaluation:
    """An evaluation as it is meant: references followed, config put in, defaults explicit.

    Attributes:
        models: every model some specification uses, evaluated or judging, by key.
        adapters: the declared adapters that these models use.
        secrets: name -> as written, usually `$NAME`.
        source_file: the file it was resolved from.
        warnings: what was tolerated, one sentence each.
        as_written: what it was before recorded conversations took its solvers' place, which is
            what is stored of it; None is itself.
    """

    key: str
    display_name: str
    specs: tuple[ResolvedSpec, ...]
    models: Mapping[str, Model] = field(repr=False)  # may hold secrets written literally
    adapters: Mapping[str, ModelAdapter]
    secrets: Mapping[str, str] = field(repr=False)
    cache_policy: CachePolicy
    source_file: Path = field(compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    as_written: "ResolvedEvaluation | None" = field(default=None, repr=False, compare=False)

    def to_document(self) -> dict[str, Any]:
        """Return a run file, as plain YAML values, that resolves to an equal evaluation.

        It needs no other file but the data, and holds no secret: one that was written
        literally is asked for as an environment variable named after its model, such as
        `$MY_MODEL_API_KEY`.
        """
        if self.as_written is not None:
            return self.as_written.to_document()
        datasets = {
            dataset.key: dataset for spec in self.specs for dataset in spec.datasets.values()
        }
        tasks = {spec.task.key: plain(spec.written) for spec in self.specs}
        config_spec: list[dict[str, Any]] = []
        config: dict[str, Any] = {}
        document = {
            "models": [stored_model(model) for model in self.models.values()],
            "model_adapters": [dumped(adapter) for adapter in self.adapters.values()],
            "datasets": [dumped(dataset) for dataset in datasets.values()],
            "tasks": list(tasks.values()),
            "evaluation": {
                "key": self.key,
                "display_name": self.display_name,
                "task_specifications": [
                    _specification(spec, config_spec, config) for spec in self.specs
                ],
                **({"config_spec": config_spec} if config_spec else {}),
            },
            "config": config,
            "run_config": {"cache_policy": self.cache_policy},
            "secrets": references(self.secrets, "secret"),
        }
        return {key: value for key, value in document.items() if value}

    def to_yaml(self) -> str:
        """Return `to_document` as YAML text, written so that loading reads the same values."""
        return yaml_of(self.to_document())


def _specification(
    spec: ResolvedSpec, config_spec: list[dict[str, Any]], config: dict[str, Any]
) -> dict[str, Any]:
    task_config = {}
    for parameter in spec.task.config_spec:
        value = plain(spec.config[parameter.key])
        if has_placeholder(value):
            # a value that looks like a placeholder must not be taken for one when read again
            lifted = f"{spec.key} {parameter.key}"
            config_spec.append({**dumped(parameter), "key": lifted, "default_value": None})
            config[lifted] = value
            value = f"<< config.{lifted} >>"
        task_config[parameter.key] = value
    written = {
        "key": spec.key,
        "task_key": spec.task.key,
        "display_name": spec.display_name,
        "task_config": task_config,
        "model_key": spec.model_key,
        "num_samples": spec.num_samples,
        "subsampling": spec.subsampling,
        "trials": {"num_trials": spec.num_trials} if _says_trials(spec) else None,
        "repeatability": {"num_runs": spec.num_runs} if spec.num_runs > 1 else None,
        "task_result_log_path": str(spec.log) if spec.log is not None else None,
    }
    return {key: value for key, value in written.items() if value is not None}


def _says_trials(spec: ResolvedSpec) -> bool:
    """Whether the number of trials has to be written: without it the task's own would count."""
    return spec.num_trials > 1 or spec.task.definition.trials is not None
