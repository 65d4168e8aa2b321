"""Whether the columns exist that a specification names."""

from collections.abc import Collection, Iterator

from tasks_lib.config import did_you_mean
from tasks_lib.errors import DefinitionError, DefinitionErrors, bounded
from tasks_lib.resolve.resolved import ResolvedSpec


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
