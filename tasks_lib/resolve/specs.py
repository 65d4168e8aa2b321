"""One task specification: its task typed with its config, bound to datasets and models."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks_lib.base import KeyPath
from tasks_lib.config import (
    Report,
    effective_values,
    placeholder_names,
    substitute,
    substituted_values,
)
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.evaluation import Subsampling, TaskSpecification
from tasks_lib.definitions.task import BenchmarkTask, ResultDataset, Task, TaskHeader
from tasks_lib.errors import DefinitionError
from tasks_lib.resolve.earlier_results import absolute_results, log_path, with_absolute_result
from tasks_lib.resolve.library import Library
from tasks_lib.resolve.parts import Part, Problems
from tasks_lib.resolve.resolved import ResolvedSpec
from tasks_lib.resolve.tasks import (
    IMPLICIT_DATASET,
    dataset_names,
    takes_dataset_from_config,
    task_header,
    with_keys,
)
from tasks_lib.system_tasks import SystemTask

MODEL_FIELDS = frozenset({"model_key", "judge_model_key"})
"""Keys under which parts of a task name a model."""


@dataclass(frozen=True)
class Sampling:
    """How much a specification runs; None where nothing is said."""

    num_samples: int | None = None
    subsampling: Subsampling | None = None
    num_trials: int | None = None

    def over(self, other: "Sampling") -> "Sampling":
        """Return what this says, and what `other` says where this says nothing."""
        return Sampling(
            self.num_samples or other.num_samples,
            self.subsampling or other.subsampling,
            self.num_trials or other.num_trials,
        )


@dataclass(frozen=True)
class Context:
    """What is the same for every specification of an evaluation.

    Attributes:
        library: finds what keys name.
        problems: told of everything wrong.
        model: the evaluated model that the command line asks for.
        settings: names of the parameters that the command line sets.
        forced: sampling that wins over a specification's own.
        fallback: sampling used where a specification says nothing.
    """

    library: Library
    problems: Problems
    model: str | None
    settings: frozenset[str]
    forced: Sampling
    fallback: Sampling


def resolve_spec(part: Part, spec: TaskSpecification, context: Context) -> ResolvedSpec | None:
    """Return the specification resolved; None, with the reasons noted, when it can't be.

    Args:
        part: the specification as written, the evaluation's config put in.
        spec: the same, typed.
        context: what surrounds it.
    """
    before = len(context.problems)
    task_part = context.library.part("task", spec.task_key, part.error(("task_key",), ""))
    header = task_header(task_part, context.problems) if task_part is not None else None
    if task_part is None or header is None:
        return None
    task_part = with_absolute_result(task_part, context.problems)
    binding = _Binding(part, spec, task_part, header, context)
    values = binding.config()
    if len(context.problems) > before:
        return None
    task = binding.task(values)
    if task is None:
        return None
    datasets = binding.datasets(task, values)
    model_key = binding.evaluated_model(task)
    trials = task.definition.trials
    sampling = (
        context.forced.over(
            Sampling(
                spec.num_samples, spec.subsampling, spec.trials.num_trials if spec.trials else None
            )
        )
        .over(context.fallback)
        .over(Sampling(num_trials=trials.num_trials if trials else None))
    )
    num_trials = 1 if isinstance(task.definition, SystemTask) else sampling.num_trials or 1
    binding.check_repeats(task, num_trials)
    log = log_path(part, context.problems)
    if len(context.problems) > before:
        return None
    return ResolvedSpec(
        key=spec.spec_key,
        display_name=spec.display_name or binding.display_name(model_key),
        task=task,
        config=values,
        datasets=datasets,
        model_key=model_key,
        num_samples=sampling.num_samples,
        subsampling=sampling.subsampling or "head",
        num_trials=num_trials,
        num_runs=spec.repeatability.num_runs if spec.repeatability else 1,
        written=task_part.tree,
        log=log,
    )


def with_settings(report: Report, names: Collection[str], problems: Problems) -> Report:
    """Return a report that places what `--set` gave on the command line."""

    def placed(path: KeyPath, problem: str, fix: str) -> None:
        if path and path[0] in names:
            problems.add(DefinitionError(problem, f"--set {path[0]}", fix))
        else:
            report(path, problem, fix)

    return placed


@dataclass(frozen=True)
class _Binding:
    """A specification, the task it names, and what surrounds both."""

    part: Part
    spec: TaskSpecification
    task_part: Part
    header: TaskHeader
    context: Context

    def config(self) -> dict[str, Any]:
        """Return the value of every parameter; model keys as the library knows them."""
        supplied = dict(self.spec.task_config)
        if self.spec.dataset_key is not None:
            supplied.setdefault(IMPLICIT_DATASET, self.spec.dataset_key)
        tested = self.context.model or self.spec.model_key
        values = effective_values(
            self.header.config_spec,
            supplied,
            with_settings(
                self.part.reporter(self.context.problems, "task_config"),
                self.context.settings,
                self.context.problems,
            ),
            {"model_under_test": tested} if tested else None,
        )
        for parameter in self.header.config_spec:
            value = values.get(parameter.key)
            if value is None:
                continue
            asking = self.part.error(("task_config", parameter.key), "")
            if parameter.type == "model":
                values[parameter.key] = self.context.library.model(value, asking)
            elif parameter.type == "dataset":
                self.context.library.dataset(value, asking)
        return absolute_results(self.header.config_spec, values, self._file, self.context.problems)

    def _file(self, parameter: str, name: str) -> Path:
        """Return the file that `name`, given for a parameter, means."""
        place = ("task_config", parameter)
        if parameter in self.context.settings or placeholder_names(self.part.written(*place)):
            return Path(name).expanduser().absolute()  # looked at where it was put in
        if parameter in self.spec.task_config:
            return self.part.file(name, self.part.folder(*place), *place)
        return self.task_part.file(name, self.task_part.folder())

    def task(self, values: Mapping[str, Any]) -> Task | None:
        """Return the task, typed, with its config put in."""
        problems = self.context.problems
        before = len(problems)
        written = self.task_part.tree.get("definition")
        definition = self._substituted(written, values)
        if len(problems) > before:
            return None
        filled = self.task_part.with_tree({**self.task_part.tree, "definition": definition})
        task = filled.typed(Task, problems)
        if task is None:
            return None
        try:
            definition = (
                with_keys(task.definition)
                if isinstance(task.definition, BenchmarkTask)
                else task.definition
            )
        except ValueError as error:
            problems.add(self.task_part.error(("definition", "scorers"), str(error)))
            return None
        return task.model_copy(
            update={"config_spec": self.header.config_spec, "definition": definition}
        )

    def _substituted(self, written: Any, values: Mapping[str, Any]) -> Any:
        if not isinstance(written, Mapping):
            return written
        report = self.task_part.reporter(self.context.problems, "definition")
        given = substituted_values(self.header.config_spec, values)
        # what several datasets' rows are called by is the parameter's name, not its value
        inside = {**given, **{name: name for name in dataset_names(written) if name in given}}
        definition = {
            key: substitute(value, given if key == "dataset" else inside, report, (key,))
            for key, value in written.items()
        }
        if takes_dataset_from_config(written):
            definition["dataset"] = {"key": given[IMPLICIT_DATASET]}
        return self._with_model_keys(definition, ("definition",))

    def _with_model_keys(self, tree: Any, path: KeyPath) -> Any:
        """Have the models that scorers and solvers name known by the library's keys."""
        if isinstance(tree, list):
            return [self._with_model_keys(item, (*path, i)) for i, item in enumerate(tree)]
        if not isinstance(tree, Mapping):
            return tree
        return {
            key: self.context.library.model(value, self.task_part.error((*path, key), ""))
            if key in MODEL_FIELDS and isinstance(value, str)
            else self._with_model_keys(value, (*path, key))
            for key, value in tree.items()
        }

    def datasets(self, task: Task, values: Mapping[str, Any]) -> dict[str, Dataset]:
        """Return the task's datasets by the name its rows are known by."""
        wanted = task.definition.dataset
        if wanted is None or isinstance(wanted, ResultDataset):
            return {}
        paths: list[KeyPath] = [("definition", "dataset", "key")]
        names, keys = ["dataset"], [wanted.key or ""]
        if wanted.keys is not None:
            names = dataset_names(self.task_part.tree["definition"])
            keys = list(wanted.keys)
            paths = [("definition", "dataset", "keys", i) for i in range(len(keys))]
        found: dict[str, Dataset] = {}
        for name, key, path in zip(names, keys, paths, strict=True):
            asking = self.task_part.error(path, f"two datasets are called '{name}'", "rename one")
            if name in found:
                self.context.problems.add(asking)
            dataset = self.context.library.dataset(key, asking)
            if dataset is not None:
                found[name] = dataset
        return found

    def evaluated_model(self, task: Task) -> str | None:
        """Return the library's key of the evaluated model; None for a task that needs none."""
        solver = task.definition.solver
        if solver is None:
            return None
        name = self.spec.model_key
        if self.context.model and (solver.asks_evaluated_model or name):
            name = self.context.model
        if name is not None:
            return self.context.library.model(name, self.part.error(("model_key",), ""))
        if solver.asks_evaluated_model:
            problem = f"task '{task.key}' evaluates a model, and none is named"
            fix = "add 'model_key', or give one with -m"
            self.context.problems.add(self.part.error((), problem, fix))
        return None

    def check_repeats(self, task: Task, num_trials: int) -> None:
        """Check that every sample can be solved as often as it is asked for."""
        problems = self.context.problems
        trials = task.definition.trials
        if trials is not None and num_trials > 1:
            try:
                trials.check_enough(num_trials)
            except ValueError as error:
                problems.add(self.part.error((), f"task '{task.key}': {error}"))
        if self.spec.repeatability is None:
            return
        if num_trials > 1:
            problem = f"repeatability can't be combined with trials, and there are {num_trials}"
            fix = "turn them off with 'trials: {num_trials: 1}', or remove 'repeatability'"
            problems.add(self.part.error(("repeatability",), problem, fix))
        elif isinstance(task.definition, SystemTask):
            problem = f"task '{task.key}' has no samples whose results could vary"
            problems.add(self.part.error(("repeatability",), problem, "remove 'repeatability'"))

    def display_name(self, model_key: str | None) -> str:
        """Return the name of task and model, for a specification without its own."""
        model = self.context.library.models.get(model_key or "")
        name = self.header.display_name
        return f"{name} ({model.display_name})" if model else name
