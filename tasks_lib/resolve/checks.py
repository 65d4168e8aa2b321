"""What the plan asks of a resolved specification."""

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from tasks_lib.config import did_you_mean
from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError, DefinitionErrors, bounded
from tasks_lib.resolve.resolved import ResolvedEvaluation, ResolvedSpec
from tasks_lib.resolve.serialize import connection_settings
from tasks_lib.resolve.specs import MODEL_FIELDS


def check_dataset_columns(spec: ResolvedSpec, columns: Collection[str]) -> None:
    """Check that the columns exist that `dataset_column` parameters and scorers name.

    Scorers are believed where they see other columns than the dataset's own: those of several
    datasets, or of a postprocessor.

    Args:
        spec: the specification.
        columns: of its dataset; of all its datasets together where it has several.

    Raises:
        DefinitionErrors: columns that are not there.
    """
    problems = [
        DefinitionError(
            f"{what}: the dataset has no column '{name}'",
            where=f"task '{spec.key}'",
            fix=did_you_mean(name, columns) or f"its columns: {bounded(', '.join(columns))}",
        )
        for what, name in (*_columns_of_parameters(spec), *_columns_of_scorers(spec))
        if name not in columns
    ]
    if problems:
        raise DefinitionErrors(problems)


def _columns_of_parameters(spec: ResolvedSpec) -> Iterator[tuple[str, str]]:
    for parameter in spec.task.config_spec:
        name = spec.config.get(parameter.key)
        if parameter.type == "dataset_column" and name is not None:
            yield f"config parameter '{parameter.key}'", name


def _columns_of_scorers(spec: ResolvedSpec) -> Iterator[tuple[str, str]]:
    definition = spec.task.definition
    solver = definition.solver
    if set(spec.datasets) != {"dataset"} or (solver and solver.postprocessor is not None):
        return
    for scorer in definition.scorers:
        for field, name in scorer.columns().items():
            yield f"scorer '{scorer.key}', {field}", name


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


def called_models(evaluation: ResolvedEvaluation) -> list[str]:
    """Return the models that may be called: all but those named only where a log is loaded."""
    logged: set[str | None] = set()
    run: set[str | None] = set()
    for spec in evaluation.specs:
        parameters = (parameter for parameter in spec.task.config_spec if parameter.type == "model")
        named = {spec.config[parameter.key] for parameter in parameters} | _models_of(spec)
        (run if spec.log is None else logged).update(named)
    return [key for key in evaluation.models if key not in logged - run]


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
