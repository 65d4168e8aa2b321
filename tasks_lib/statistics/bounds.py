"""What a mean could have been had every unscored row been scored (Manski's bounds)."""


def mean_bounds(
    total: float, n: int, n_population: int, low: float, high: float
) -> tuple[float, float]:
    """Return the mean over all rows if every unscored one were worst, and if it were best.

    Args:
        total: sum of the scores of the scored rows.
        n: how many rows were scored.
        n_population: rows that should have been scored, at least `n` and at least 1.
        low: smallest score there can be.
        high: largest score there can be.

    Raises:
        ValueError: the population is empty or smaller than `n`.
    """
    if not max(n, 1) <= n_population:
        raise ValueError(f"{n} scored of {n_population} rows leave no bounds")
    unscored = n_population - n
    return (total + unscored * low) / n_population, (total + unscored * high) / n_population
