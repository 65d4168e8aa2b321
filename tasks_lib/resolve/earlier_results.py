"""Earlier results that definitions name, by run or by the path of a task result log."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from tasks_lib.definitions.parameters import ParameterSpec
from tasks_lib.resolve.parts import Part, Problems

_LOG = ".json"


def is_log(key: str) -> bool:
    """Return whether an earlier result's key is the path of a log."""
    return key.endswith(_LOG)


def absolute_results(
    parameters: Iterable[ParameterSpec],
    values: Mapping[str, Any],
    file: Callable[[str, str], Path],
    problems: Problems,
) -> dict[str, Any]:
    """Return config values with the paths among earlier results' keys absolute.

    Args:
        parameters: what the values are of.
        values: by the parameters' keys.
        file: returns the file that a parameter's value means.
        problems: told of files that may not be named.
    """
    found = dict(values)
    for parameter in parameters:
        value = values.get(parameter.key)
        if parameter.type == "task_result" and isinstance(value, str) and is_log(value):
            with problems.noted():
                found[parameter.key] = str(file(parameter.key, value))
    return found


def log_path(specification: Part, problems: Problems) -> Path | None:
    """Return the absolute path of the log that a task specification takes its results from."""
    key = "task_result_log_path"
    path = specification.text(key)
    if path is not None:
        with problems.noted():
            return specification.file(path, specification.folder(key), key)
    return None


def with_absolute_result(task: Part, problems: Problems) -> Part:
    """Return a task with the path of an earlier result that it names absolute."""
    match task.tree:
        case {"definition": {"dataset": {"source": "task_result", "key": str() as key}}} if is_log(
            key
        ):
            place = ("definition", "dataset", "key")
            with problems.noted():
                absolute = str(task.file(key, task.folder(*place), *place))
                definition = task.tree["definition"]
                filled = {**definition, "dataset": {**definition["dataset"], "key": absolute}}
                return task.with_tree({**task.tree, "definition": filled})
    return task
