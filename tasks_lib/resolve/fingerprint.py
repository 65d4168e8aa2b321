"""A hash of what determines the results of a specification."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from tasks_lib.definitions.model import Model
from tasks_lib.resolve.resolved import ResolvedSpec
from tasks_lib.resolve.serialize import connection_settings
from tasks_lib.resolve.specs import MODEL_FIELDS


def fingerprint(spec: ResolvedSpec, models: Mapping[str, Model] | None = None) -> str:
    """Return a hash of what determines the results of `spec`, apart from the data itself.

    Names shown to people, limits on calls, places of files and secrets are not part of it.

    Args:
        spec: the specification.
        models: when a change of their settings is to count; those it does not use are ignored.
    """
    used = _models_of(spec)
    content = {
        "definition": spec.task.definition.model_dump(
            mode="json", by_alias=True, exclude={"scorers": {"__all__": {"display_name"}}}
        ),
        "config": dict(spec.config),
        "datasets": {
            name: [dataset.key, dataset.source.model_dump(mode="json", exclude={"file_path"})]
            for name, dataset in spec.datasets.items()
        },
        "model": spec.model_key,
        "models": {
            key: [connection_settings(model), model.task, model.parameters]
            for key, model in (models or {}).items()
            if key in used
        },
        "sampling": [spec.num_samples, spec.subsampling, spec.num_trials, spec.num_runs],
    }
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _models_of(spec: ResolvedSpec) -> set[str | None]:
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
