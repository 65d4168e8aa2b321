"""What a task says beside its parts: the parameter it gets unasked, the keys it leaves out."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.config import whole_placeholder
from tasks_lib.definitions.parameters import DatasetParameter
from tasks_lib.definitions.task import BenchmarkTask, TaskHeader
from tasks_lib.keys import unique_keys
from tasks_lib.resolve.parts import Part, Problems

IMPLICIT_DATASET = "dataset_key"
"""Parameter of a task with neither solver nor dataset: the key of the dataset it scores."""


def task_header(part: Part, problems: Problems) -> TaskHeader | None:
    """Return all of a task but its definition, the implicit dataset parameter included."""
    fields = {key: value for key, value in part.tree.items() if key != "definition"}
    header = part.with_tree(fields).typed(TaskHeader, problems)
    if header is None or not _needs_dataset_parameter(part.tree.get("definition"), header):
        return header
    implicit = DatasetParameter(type="dataset", key=IMPLICIT_DATASET, display_name="Dataset")
    return header.model_copy(update={"config_spec": (*header.config_spec, implicit)})


def _needs_dataset_parameter(definition: object, header: TaskHeader) -> bool:
    return takes_dataset_from_config(definition) and all(
        parameter.key != IMPLICIT_DATASET for parameter in header.config_spec
    )


def takes_dataset_from_config(definition: object) -> bool:
    """Return whether a task's definition names no dataset, so that its config has to."""
    return (
        isinstance(definition, Mapping)
        and definition.get("type", "benchmark_task") == "benchmark_task"
        and definition.get("solver") is None
        and definition.get("dataset") is None
    )


def dataset_names(definition: Mapping[str, Any]) -> list[str]:
    """Return what the rows of a task with several datasets are called by, in order.

    That is the parameter's name where a dataset is given as `<< config.NAME >>`, else its key.
    """
    dataset = definition.get("dataset")
    keys = dataset.get("keys") if isinstance(dataset, Mapping) else None
    return [whole_placeholder(key) or str(key) for key in keys] if isinstance(keys, list) else []


def with_keys(definition: BenchmarkTask) -> BenchmarkTask:
    """Return the definition with every scorer and every metric in force under its own key.

    Raises:
        ValueError: two scorers, or two metrics of one, were given the same key.
    """
    keys = unique_keys((scorer.key, scorer.type) for scorer in definition.scorers)
    scorers = []
    for key, scorer in zip(keys, definition.scorers, strict=True):
        metrics = tuple(
            metric.model_copy(update={"key": metric_key})
            for metric_key, metric in scorer.keyed_metrics().items()
        )
        scorers.append(scorer.model_copy(update={"key": key, "metrics": metrics}))
    return definition.model_copy(update={"scorers": tuple(scorers)})
