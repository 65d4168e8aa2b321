"""Confidence intervals of one rate and of one mean."""

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist

LEVEL = 0.95
"""Confidence level used where none is asked for."""


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided confidence interval.

    Attributes:
        level: its confidence, such as 0.95.
        method: `wilson` or `t`.
    """

    low: float
    high: float
    level: float
    method: str


def wilson(successes: int, n: int, level: float = LEVEL) -> Interval:
    """Return Wilson's interval of the rate `successes / n`; within [0, 1], never of width 0.

    Raises:
        ValueError: `n` is less than 1, or `successes` not in [0, n].
    """
    if n < 1 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is no rate")
    z = NormalDist().inv_cdf((1 + level) / 2)
    rate = successes / n
    centre = rate + z * z / (2 * n)
    reach = z * sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    shrink = 1 + z * z / n
    # At the ends the formula gives 0 and 1 exactly; rounding must not say otherwise.
    low = (centre - reach) / shrink if successes > 0 else 0.0
    high = (centre + reach) / shrink if successes < n else 1.0
    return Interval(low, high, level, "wilson")


def student_t(mean: float, stderr: float, n: int, level: float = LEVEL) -> Interval:
    """Return the t interval of a mean of `n` independent values, n - 1 degrees of freedom.

    Args:
        mean: their mean.
        stderr: standard error of the mean, from the sample standard deviation (n - 1).
        n: how many values there are.
        level: confidence, in (0, 1).

    Raises:
        ValueError: `n` is less than 2 or `stderr` is not positive: such data carry no interval.
    """
    from scipy.special import stdtrit

    if n < 2 or not stderr > 0:
        raise ValueError(f"{n} values with standard error {stderr} carry no interval")
    reach = float(stdtrit(n - 1, (1 + level) / 2)) * stderr
    return Interval(mean - reach, mean + reach, level, "t")
