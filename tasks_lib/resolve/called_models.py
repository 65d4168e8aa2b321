"""The models that specifications name, and those of an evaluation that may be called."""

from collections.abc import Iterator
from typing import Any

from tasks_lib.resolve.resolved import ResolvedEvaluation, ResolvedSpec
from tasks_lib.resolve.specs import MODEL_FIELDS


def called_models(evaluation: ResolvedEvaluation) -> list[str]:
    """Return the models that may be called: all but those named only where a log is loaded."""
    logged: set[str | None] = set()
    run: set[str | None] = set()
    for spec in evaluation.specs:
        parameters = (parameter for parameter in spec.task.config_spec if parameter.type == "model")
        named = {spec.config[parameter.key] for parameter in parameters} | models_of(spec)
        (run if spec.log is None else logged).update(named)
    return [key for key in evaluation.models if key not in logged - run]


def models_of(spec: ResolvedSpec) -> set[str | None]:
    """Return the keys of the evaluated model and of those that parts of the task name."""

    def named(tree: Any) -> Iterator[str | None]:
        if isinstance(tree, dict):
            for key, value in tree.items():
                if key in MODEL_FIELDS and isinstance(value, str):
                    yield value
                else:
                    yield from named(value)
        elif isinstance(tree, list):
            for item in tree:
                yield from named(item)

    return {spec.model_key, *named(spec.task.definition.model_dump(mode="json"))}
