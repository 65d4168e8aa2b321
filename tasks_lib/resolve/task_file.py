"""A task file alone: the command line binds it to a dataset, a model and its config."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks_lib.config import whole_placeholder
from tasks_lib.definitions.dataset import Dataset
from tasks_lib.definitions.evaluation import TaskSpecification
from tasks_lib.definitions.task import TaskHeader
from tasks_lib.errors import DefinitionError
from tasks_lib.keys import sanitised
from tasks_lib.loading.document import shown
from tasks_lib.resolve.parts import Part
from tasks_lib.resolve.specs import Context
from tasks_lib.resolve.tasks import IMPLICIT_DATASET

_DATA_FILES = (".csv", ".jsonl", ".parquet")
_DEFINITION_FILES = (".yaml", ".yml", ".json")


def bound_task(
    task: Part, header: TaskHeader, dataset: str | None, config: dict[str, Any], context: Context
) -> tuple[Part, TaskSpecification]:
    """Return the specification that runs a task by itself; its dataset is known afterwards.

    Args:
        task: the task as written; a dataset it names is replaced by the one asked for.
        header: the same, typed.
        dataset: key of a dataset, or the path of a dataset file or a data file.
        config: values of the task's parameters.
        context: told of problems; its library learns of the task and the dataset.
    """
    task_config = dict(config)
    if dataset is not None:
        key = _dataset_key(dataset, context)
        if key is not None:
            task = _bound(task, key, task_config, context)
    context.library.declare_task(task, header.key)
    spec = TaskSpecification(
        task_key=header.key,
        task_config=task_config,
        model_key=context.model,
        display_name=header.display_name,
    )
    return replace(task, label=shown(task.document.file)), spec


def _bound(task: Part, key: str, task_config: dict[str, Any], context: Context) -> Part:
    """Put the dataset's key where the task takes it from: its config, or the task itself."""
    definition = task.tree["definition"]
    wanted = definition.get("dataset")
    if wanted is None:
        task_config[IMPLICIT_DATASET] = key
        return task
    parameter = whole_placeholder(wanted.get("key"))
    if parameter is not None:
        task_config[parameter] = key
        return task
    if wanted.get("key") is None:
        problem = "the task reads several datasets, and --dataset names one"
        fix = "name each with --set"
        context.problems.add(DefinitionError(problem, "--dataset", fix))
        return task
    bound = {**definition, "dataset": {**wanted, "key": key}}
    return task.with_tree({**task.tree, "definition": bound})


def _dataset_key(dataset: str, context: Context) -> str | None:
    path = Path(dataset).expanduser()
    suffix = path.suffix.lower()
    if suffix not in (*_DATA_FILES, *_DEFINITION_FILES):
        return dataset
    if not path.is_file():
        fix = "give the path of a data file or a dataset file, or the key of a dataset"
        context.problems.add(DefinitionError(f"'{dataset}' does not exist", "--dataset", fix))
        return None
    try:
        if suffix in _DEFINITION_FILES:
            return context.library.declare_file("dataset", path)
        source = {"type": "local", "file_path": str(path.resolve())}
        key = sanitised(path.stem)
    except (DefinitionError, ValueError) as error:
        wrong = error if isinstance(error, DefinitionError) else DefinitionError(str(error))
        context.problems.add(wrong)
        return None
    fields = {"key": key, "display_name": path.stem, "source": source}
    context.library.declare_dataset(Dataset.model_validate(fields))
    return key
