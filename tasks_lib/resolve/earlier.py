"""Earlier results that definitions name, by run or by the path of a task result log."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tasks_lib.definitions.parameters import ParameterSpec
from tasks_lib.resolve.parts import Part

_LOG = ".json"


def is_log(key: str) -> bool:
    """Return whether an earlier result's key is the path of a log."""
    return key.endswith(_LOG)


def absolute_result(key: str, folder: Path) -> str:
    """Return an earlier result's key; a path starts from `folder`."""
    return str((folder / Path(key).expanduser()).resolve()) if is_log(key) else key


def absolute_results(
    parameters: Iterable[ParameterSpec], values: Mapping[str, Any], folder: Callable[[str], Path]
) -> dict[str, Any]:
    """Return config values with the paths among earlier results' keys absolute.

    Args:
        parameters: what the values are of.
        values: by the parameters' keys.
        folder: tells where a parameter's value is written.
    """
    return {
        **values,
        **{
            parameter.key: absolute_result(values[parameter.key], folder(parameter.key))
            for parameter in parameters
            if parameter.type == "task_result" and isinstance(values.get(parameter.key), str)
        },
    }


def log_path(specification: Part) -> Path | None:
    """Return the absolute path of the log that a task specification takes its results from."""
    path = specification.text("task_result_log_path")
    if path is None:
        return None
    return (specification.folder("task_result_log_path") / Path(path).expanduser()).resolve()


def with_absolute_result(task: Part) -> Part:
    """Return a task with the path of an earlier result that it names absolute."""
    match task.tree:
        case {"definition": {"dataset": {"source": "task_result", "key": str() as key}}}:
            definition = task.tree["definition"]
            absolute = absolute_result(key, task.folder("definition", "dataset", "key"))
            filled = {**definition, "dataset": {**definition["dataset"], "key": absolute}}
            return task.with_tree({**task.tree, "definition": filled})
    return task
