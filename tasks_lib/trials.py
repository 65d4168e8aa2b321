"""Trials: every sample solved and scored several times, and what its scores come to."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from math import isfinite
from statistics import fmean
from typing import Annotated, Any, Literal

from pydantic import Field, PositiveInt

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError


class BaseAggregator(Definition, ABC):
    """Turns one score's values over the trials of a sample into one number."""

    function: str
    score_name: str | None = None
    """Name of the result; `<score>.<function>` when left out."""

    @property
    def label(self) -> str:
        """The function with its parameters, as it stands in a result's name."""
        return self.function

    @abstractmethod
    def combine(self, values: Sequence[float]) -> float:
        """Return the number for at least one value; booleans come as 1 and 0."""


class MeanAggregator(BaseAggregator):
    """The arithmetic mean."""

    function: Literal["mean"]
    """Names this aggregator."""

    def combine(self, values: Sequence[float]) -> float:
        return fmean(values)


class MinAggregator(BaseAggregator):
    """The smallest."""

    function: Literal["min"]
    """Names this aggregator."""

    def combine(self, values: Sequence[float]) -> float:
        return min(values)


class MaxAggregator(BaseAggregator):
    """The largest."""

    function: Literal["max"]
    """Names this aggregator."""

    def combine(self, values: Sequence[float]) -> float:
        return max(values)


class PassRateAggregator(BaseAggregator, ABC):
    """A chance over `k` tries, from the share of trials that passed."""

    k: PositiveInt
    """Number of tries; may exceed the number of trials."""

    @property
    def label(self) -> str:
        return self.function.replace("k", str(self.k))

    def combine(self, values: Sequence[float]) -> float:
        if any(value not in (0.0, 1.0) for value in values):
            raise SampleError("data", f"{self.label} needs values that are true or false, 1 or 0")
        return self.chance(fmean(values))

    @abstractmethod
    def chance(self, rate: float) -> float:
        """Return the chance for one pass rate in [0, 1]."""


class PassAtK(PassRateAggregator):
    """Chance that at least one of `k` tries passes: 1 - (1 - p)^k, p the pass rate."""

    function: Literal["pass@k"]
    """Names this aggregator."""

    def chance(self, rate: float) -> float:
        return float(1.0 - (1.0 - rate) ** self.k)


class PassHatK(PassRateAggregator):
    """Chance that all of `k` tries pass: p^k, p the pass rate."""

    function: Literal["pass^k"]
    """Names this aggregator."""

    def chance(self, rate: float) -> float:
        return float(rate**self.k)


Aggregator = Annotated[
    MeanAggregator | MinAggregator | MaxAggregator | PassAtK | PassHatK,
    Field(discriminator="function"),
]
"""The aggregators that trials may name."""


class ScoreAggregator(Definition):
    """How one score is aggregated over trials."""

    score_name: str
    """The score, of every scorer that produces it."""
    aggregator: Aggregator
    """What its values come to."""


class Trials(Definition):
    """How often every sample is solved and scored, and how its scores are aggregated."""

    num_trials: Annotated[int, Field(ge=2)]
    """Trials of every sample, at least two."""
    score_aggregators: tuple[ScoreAggregator, ...] | None = None
    """Further results beside the mean, which numbers and booleans always get."""


def aggregated(
    trials: Sequence[Mapping[str, Any]], aggregators: Sequence[ScoreAggregator]
) -> dict[str, float]:
    """Return the scores of one sample over its trials.

    Every score that is a number or a boolean in some trial gets its mean, under its own
    name and, without an aggregator of its own, as `<score>.mean`; other scores get none.
    Null, NaN and lacking values are left out.

    Args:
        trials: the scores of each trial that was scored; at least one.
        aggregators: further results.

    Raises:
        SampleError: an aggregator can't take a score's values.
    """
    names = dict.fromkeys(name for scores in trials for name in scores)
    own: dict[str, list[Aggregator]] = {}
    for entry in aggregators:
        own.setdefault(entry.score_name, []).append(entry.aggregator)
    results: dict[str, float] = {}
    for name in names:
        values = _numbers([scores.get(name) for scores in trials])
        if not values:
            continue
        results[name] = fmean(values)
        for aggregator in own.get(name) or [MeanAggregator(function="mean")]:
            result = aggregator.score_name or f"{name}.{aggregator.label}"
            results[result] = aggregator.combine(values)
    return results


def _numbers(values: Sequence[Any]) -> list[float]:
    return [
        float(value) for value in values if isinstance(value, int | float) and isfinite(value)
    ]
