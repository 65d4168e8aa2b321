"""The aggregators that trials may name: one score's values over the trials of a sample."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import comb, fsum, inf, nan
from typing import Annotated, Literal

from pydantic import Field, PositiveInt

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError


def mean(values: Sequence[float]) -> float:
    """Return the mean, exact until its last rounding, so that no order of trials shows."""
    if -inf in values and inf in values:
        return nan
    try:
        return fsum(values) / len(values)
    except OverflowError:
        return fsum(value / len(values) for value in values)


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
        return mean(values)


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
