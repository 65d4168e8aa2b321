"""Trials: every sample solved and scored several times, and what its scores come to."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from math import comb, fsum, inf, nan
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PositiveInt, model_validator

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError, bounded


class BaseAggregator(Definition, ABC):
    """Turns one score's values over the trials of a sample into one number."""

    function: str
    """Names the aggregator."""
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
        return _mean(values)


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


class PassAggregator(BaseAggregator, ABC):
    """A chance over `k` tries, from how many trials passed."""

    k: PositiveInt
    """Number of tries."""

    @property
    def label(self) -> str:
        return f"{self.function[:-1]}{self.k}"

    def combine(self, values: Sequence[float]) -> float:
        for value in values:
            if value not in (0.0, 1.0):
                problem = f"{self.label} needs true or false, 1 or 0, not {value:g}"
                raise SampleError("data", problem)
        return self.chance(len(values), int(sum(values)))

    @abstractmethod
    def chance(self, n: int, passed: int) -> float:
        """Return the chance, in [0, 1], from `passed` of `n` trials.

        Raises:
            SampleError: too few trials.
        """


class PassAtK(PassAggregator):
    """Chance that at least one of `k` tries passes: 1 - (1 - p)^k, p the share that passed.

    `k` may exceed the number of trials. It is low on average, for the share is uncertain;
    `unbiased_pass@k` is not.
    """

    function: Literal["pass@k"]
    """Names this aggregator."""

    def chance(self, n: int, passed: int) -> float:
        return float(1.0 - (1.0 - passed / n) ** self.k)


class PassHatK(PassAggregator):
    """Chance that all of `k` tries pass: p^k, p the share that passed.

    `k` may exceed the number of trials. It is high on average, for the share is uncertain;
    `unbiased_pass^k` is not.
    """

    function: Literal["pass^k"]
    """Names this aggregator."""

    def chance(self, n: int, passed: int) -> float:
        return float((passed / n) ** self.k)


class UnbiasedPassAggregator(PassAggregator, ABC):
    """A share of the ways to draw `k` of the trials; an extension of the task language."""

    def ways(self, n: int, of: int) -> float:
        """Return in what share of the draws of `k` of `n` trials all are among `of` of them.

        Raises:
            SampleError: there are fewer trials than tries.
        """
        if self.k > n:
            problem = f"{self.label} needs {self.k} trials, and {n} were scored"
            raise SampleError("data", problem, fix="raise 'num_trials' or lower 'k'")
        return comb(of, self.k) / comb(n, self.k)


class UnbiasedPassAtK(UnbiasedPassAggregator):
    """Chance that at least one of `k` tries passes: 1 - C(n - c, k) / C(n, k).

    Of n trials c passed. The unbiased estimator of Chen et al. 2021 (arXiv 2107.03374); an
    extension. A sample with fewer scored trials than `k` is an error.
    """

    function: Literal["unbiased_pass@k"]
    """Names this aggregator."""

    def chance(self, n: int, passed: int) -> float:
        return 1.0 - self.ways(n, n - passed)


class UnbiasedPassHatK(UnbiasedPassAggregator):
    """Chance that all of `k` tries pass: C(c, k) / C(n, k).

    Of n trials c passed. The unbiased estimator of tau-bench (arXiv 2406.12045); an extension.
    A sample with fewer scored trials than `k` is an error.
    """

    function: Literal["unbiased_pass^k"]
    """Names this aggregator."""

    def chance(self, n: int, passed: int) -> float:
        return self.ways(n, passed)


Aggregator = Annotated[
    MeanAggregator
    | MinAggregator
    | MaxAggregator
    | PassAtK
    | PassHatK
    | UnbiasedPassAtK
    | UnbiasedPassHatK,
    Field(discriminator="function"),
]
"""The aggregators that trials may name."""


class ScoreAggregator(Definition):
    """How one score is aggregated over trials."""

    score_name: str
    """The score, of every scorer that produces it."""
    aggregator: Aggregator
    """What its values come to."""

    @property
    def result_name(self) -> str:
        """Name of what they come to, among the aggregated scores."""
        return self.aggregator.score_name or f"{self.score_name}.{self.aggregator.label}"


class Trials(Definition):
    """How often every sample is solved and scored, and how its scores are aggregated."""

    num_trials: Annotated[int, Field(ge=2)]
    """Trials of every sample, at least two."""
    score_aggregators: tuple[ScoreAggregator, ...] | None = None
    """Further results beside the mean, which numbers and booleans always get."""

    @model_validator(mode="after")
    def _names_differ(self) -> Self:
        seen: set[str] = set()
        for entry in self.score_aggregators or ():
            name, aggregator = entry.result_name, entry.aggregator
            if name in seen:
                raise ValueError(
                    f"two aggregators give '{name}'; give one a 'score_name' of its own"
                )
            if name == entry.score_name and aggregator.function != "mean":
                raise ValueError(
                    f"'{name}' always is the mean of the score of that name; "
                    f"give {aggregator.label} another 'score_name'"
                )
            seen.add(name)
        return self

    def unknown_scores(self, given: Collection[str]) -> list[str]:
        """Return the scores that aggregators name and no scorer gives."""
        named = dict.fromkeys(entry.score_name for entry in self.score_aggregators or ())
        return [name for name in named if name not in given]

    def check_enough(self, num_trials: int) -> None:
        """Check that every aggregator can be computed of so many trials.

        Raises:
            ValueError: one needs more.
        """
        for entry in self.score_aggregators or ():
            aggregator = entry.aggregator
            if isinstance(aggregator, UnbiasedPassAggregator) and aggregator.k > num_trials:
                raise ValueError(
                    f"{aggregator.label} of '{entry.score_name}' needs {aggregator.k} trials, "
                    f"and there are {num_trials}; raise 'num_trials' or lower 'k'"
                )


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
        results[name] = _mean(values)
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


def _mean(values: Sequence[float]) -> float:
    """The mean, exact until its last rounding, so that no order of trials shows."""
    if -inf in values and inf in values:
        return nan
    try:
        return fsum(values) / len(values)
    except OverflowError:
        return fsum(value / len(values) for value in values)
