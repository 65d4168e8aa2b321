"""How sure one is of a ratio of two sums over independent units."""

from __future__ import annotations

from math import isfinite, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np


def ratio_stderr(
    parts: np.ndarray[tuple[int], np.dtype[np.float64]],
    wholes: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> float | None:
    """Return the standard error of `sum(parts) / sum(wholes)`; None where it would be 0.

    Each unit adds a part and a whole, such as a sample its supported claims and all its
    claims. Counts of one unit are not independent, so the unit is what varies: with wholes of
    1 this is the standard error of a mean, with clusters as units the CR1 clustered one.

    Args:
        parts: one a unit.
        wholes: one a unit, of a sum that is not 0.
    """
    n = len(parts)
    total = float(wholes.sum())
    if n < 2:
        return None
    residuals = parts - float(parts.sum()) / total * wholes
    stderr = sqrt(n / (n - 1) * float(residuals @ residuals)) / abs(total)
    return stderr if isfinite(stderr) and stderr > 0 else None
