"""What the plan asks of a resolved specification."""

import hashlib
import json
from collections.abc import Collection, Mapping
from typing import Any

from tasks_lib.config import did_you_mean
from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError, DefinitionErrors, bounded
from tasks_lib.resolve.resolved import ResolvedSpec
from tasks_lib.resolve.stored import connection_settings

_FOR_PEOPLE = ("display_name", "description", "long_description", "tags")


def check_dataset_columns(spec: ResolvedSpec, columns: Collection[str]) -> None:
    """Check that every column named by a `dataset_column` parameter exists.

    Args:
        spec: the specification.
        columns: of its dataset; of all its datasets together where it has several.

    Raises:
        DefinitionErrors: a column that is not there.
    """
    problems = [
        DefinitionError(
            f"config parameter '{parameter.key}': the dataset has no column '{name}'",
            where=f"task '{spec.key}'",
            fix=did_you_mean(name, columns) or f"its columns: {bounded(', '.join(columns))}",
        )
        for parameter in spec.task.config_spec
        if parameter.type == "dataset_column"
        and (name := spec.config[parameter.key]) is not None
        and name not in columns
    ]
    if problems:
        raise DefinitionErrors(problems)


def fingerprint(spec: ResolvedSpec, models: Mapping[str, Model] | None = None) -> str:
    """Return a hash of what determines the results of `spec`, apart from the data itself.

    Names shown to people, limits on calls, places of files and secrets are not part of it.

    Args:
        spec: the specification.
        models: the models it uses, when a change of their settings is to count.
    """
    content = {
        "definition": spec.task.definition.model_dump(mode="json", by_alias=True),
        "config": dict(spec.config),
        "datasets": {
            name: _without_places(dataset.model_dump(mode="json", exclude=set(_FOR_PEOPLE)))
            for name, dataset in spec.datasets.items()
        },
        "model": spec.model_key,
        "models": {
            key: [connection_settings(model), model.task, model.parameters]
            for key, model in (models or {}).items()
        },
        "sampling": [spec.num_samples, spec.subsampling, spec.num_trials],
    }
    canonical = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def _without_places(tree: Any) -> Any:
    """Return `tree` without the places of files: the same data elsewhere is the same data."""
    if isinstance(tree, dict):
        return {
            key: _without_places(value) for key, value in tree.items() if not key.endswith("_path")
        }
    return [_without_places(item) for item in tree] if isinstance(tree, list) else tree
