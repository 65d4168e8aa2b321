"""Whether the metrics that gates are set on can come of an evaluation."""

from collections.abc import Iterable, Iterator

from tasks_lib.config import did_you_mean
from tasks_lib.errors import DefinitionError, DefinitionErrors, bounded
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec
from tasks_lib.system_tasks import SystemTask


def check_gates(evaluation: ResolvedEvaluation, names: Iterable[str]) -> None:
    """Refuse gates on metrics that no task can have, whatever the scores turn out to be.

    Args:
        evaluation: what will be evaluated.
        names: of the metrics, or their keys, that gates are set on.

    Raises:
        DefinitionErrors: names that no metric has.
    """
    possible = list(dict.fromkeys(name for spec in evaluation.specs for name in _names(spec)))
    problems = [
        DefinitionError(
            f"no metric is named '{name}'",
            where="--fail-under",
            fix=did_you_mean(name, possible)
            or f"the metrics: {bounded(', '.join(possible)) or 'none'}",
        )
        for name in names
        if not any(_may_be(name, pattern) for pattern in possible)
    ]
    if problems:
        raise DefinitionErrors(problems)


def _names(spec: ResolvedSpec) -> Iterator[str]:
    """How the metrics of a specification and their keys may be called, `*` being any text."""
    definition = spec.task.definition
    if spec.log is not None or isinstance(definition, SystemTask):
        yield "*"
        return
    for scorer in definition.scorers:
        for key, metric in scorer.keyed_metrics().items():
            for name in metric.value_names():
                yield from [name] if spec.num_runs == 1 else [f"{name}_mean", f"{name}_std"]
            yield key
    if spec.num_runs > 1:
        yield from ("*agreement_mean", "*agreement")
    if definition.actions:
        yield from ("num_excluded_from_metrics", "actions")


def _may_be(name: str, pattern: str) -> bool:
    start, star, end = pattern.partition("*")
    return name.startswith(start) and name.endswith(end) if star else name == pattern
