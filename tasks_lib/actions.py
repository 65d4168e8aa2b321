"""Action rules: which scored rows are left out of the metrics."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.filters import Filter
from tasks_lib.keys import UserKey


class ActionRule(Definition):
    """An action on the rows that pass a filter."""

    key: UserKey
    """Name of the rule in results."""
    action: Literal["exclude_from_metrics"]
    """What is done: the row stays in the results but not in any metric of the task."""
    filter: Filter
    """Which rows; it may use `sample`, `solver_output` and `scores.<scorer>.<score>`."""


def matching_rules(
    rules: Sequence[ActionRule], variables: Mapping[str, Any]
) -> tuple[list[str], list[tuple[str, SampleError]]]:
    """Return the keys of the rules that a row matches, and the rules that failed on it.

    A rule that fails counts as not matching; the others are still looked at.

    Args:
        rules: the task's rules.
        variables: `sample`, `scores` and, without trials, `solver_output`.
    """
    matched: list[str] = []
    failed: list[tuple[str, SampleError]] = []
    for rule in rules:
        try:
            if rule.filter.matches(**variables):
                matched.append(rule.key)
        except SampleError as error:
            failed.append((rule.key, error))
    return matched, failed
