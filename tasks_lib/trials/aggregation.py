"""What the scores of a sample come to over its trials."""

from collections.abc import Mapping, Sequence
from itertools import chain
from math import inf
from typing import Any

from tasks_lib.errors import SampleError, bounded
from tasks_lib.trials.aggregators import mean
from tasks_lib.trials.definition import ScoreAggregator


def aggregated(
    trials: Sequence[Mapping[str, Any]], aggregators: Sequence[ScoreAggregator]
) -> dict[str, float]:
    """Return the scores of one sample over its trials; their order doesn't matter.

    Every score that is a number or a boolean gets its mean, under its own name and, without
    an aggregator of its own, as `<score>.mean`; other scores get none. Null, NaN and lacking
    values are left out.

    Args:
        trials: the scores of each trial that was scored; at least one.
        aggregators: further results.

    Raises:
        SampleError: an aggregator can't take a score's values, or two results have one name.
    """
    names = dict.fromkeys(chain.from_iterable(trials))
    results: dict[str, float] = {}
    for name in names:
        asked = [entry for entry in aggregators if entry.score_name == name]
        values = _numbers(name, [scores.get(name) for scores in trials], bool(asked))
        if not values:
            continue
        results[name] = mean(values)
        if not asked and f"{name}.mean" not in names:
            results[f"{name}.mean"] = results[name]
        for entry in asked:
            result = entry.result_name
            if result != name and (result in names or result in results):
                fix = f"give {entry.aggregator.label} of '{name}' another 'score_name'"
                raise SampleError("data", f"two scores are called '{result}'", fix=fix)
            results[result] = entry.aggregator.combine(values)
    return results


def _numbers(name: str, values: Sequence[Any], wanted: bool) -> list[float]:
    """Return what is known of a score, as numbers; nothing when it is of another kind.

    Raises:
        SampleError: it is of another kind, and an aggregator names it.
    """
    known = [value for value in values if value is not None]
    for value in known:
        if not isinstance(value, int | float):
            if wanted:
                problem = f"'{name}' can't be aggregated: {bounded(repr(value), 80)} is no number"
                raise SampleError("data", problem)
            return []
    return [number for number in map(_float, known) if number == number]


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer beyond the range of floats, stored as infinite as well
        return inf if value > 0 else -inf
