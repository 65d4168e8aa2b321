"""Keys of the older generation of the language: accepted, with a warning."""

from collections.abc import Iterator
from typing import Any

from tasks_lib.base import KeyPath
from tasks_lib.loading.kinds import Kind

_IN_RUN_CONFIG = "write it under 'run_config' of the run file"

_OLD: dict[Kind, dict[KeyPath, str]] = {
    "task": {
        ("definition", "evaluated_entity_type"): (
            "it is ignored: a task with a solver evaluates a model, one without a dataset"
        ),
    },
    "model-adapter": {("task",): "it is ignored: an adapter serves every kind of model"},
    "evaluation": {
        ("mode",): "write 'num_samples' under 'run_config' of the run file",
        ("num_samples",): _IN_RUN_CONFIG,
        ("subsampling",): _IN_RUN_CONFIG,
        ("cache_policy",): _IN_RUN_CONFIG,
        ("task_specifications", "*", "dataset_key"): "write it in 'task_config'",
    },
}
_ENTITIES: dict[KeyPath, Kind] = {
    ("tasks", "*"): "task",
    ("model_adapters", "*"): "model-adapter",
    ("evaluation",): "evaluation",
}


def deprecated_keys(tree: Any, kind: Kind) -> Iterator[tuple[KeyPath, str]]:
    """Yield every deprecated key in `tree` with what to write instead."""
    entities = _ENTITIES if kind == "run" else {(): kind}
    for prefix, entity in entities.items():
        for pattern, advice in _OLD.get(entity, {}).items():
            for path in _matches(tree, prefix + pattern, ()):
                yield path, advice


def _matches(value: Any, pattern: KeyPath, path: KeyPath) -> Iterator[KeyPath]:
    if not pattern:
        yield path
    elif pattern[0] == "*" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _matches(item, pattern[1:], (*path, index))
    elif isinstance(value, dict) and pattern[0] in value:
        yield from _matches(value[pattern[0]], pattern[1:], (*path, pattern[0]))
