"""A hash of what determines the results of a specification."""

import hashlib
import json
from collections.abc import Mapping

from tasks_lib.definitions.model import Model
from tasks_lib.resolve.called_models import models_of
from tasks_lib.resolve.resolved import ResolvedSpec
from tasks_lib.resolve.serialize import connection_settings


def fingerprint(spec: ResolvedSpec, models: Mapping[str, Model] | None = None) -> str:
    """Return a hash of what determines the results of `spec`, apart from the data itself.

    Names shown to people, limits on calls, places of files and secrets are not part of it.

    Args:
        spec: the specification.
        models: when a change of their settings is to count; those it does not use are ignored.
    """
    used = models_of(spec)
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
