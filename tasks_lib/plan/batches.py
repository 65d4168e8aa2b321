"""How samples are cut into batches: few enough for Prefect, small enough to lose little."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from math import ceil
from typing import TypeVar

T = TypeVar("T")

SINGLES = 50
"""Up to so many samples each is a batch of its own, so that Prefect's UI shows each."""

MAX_BATCHES = 200
"""Batches a stage at most by our own choice; a graph with more can't be read."""

MAX_TASK_RUNS = 1_000
"""Prefect task runs in a flow run at most, whatever the batch size asked for."""

BATCH_SECONDS = 5.0
"""A batch lasts about so long, unless there would be too many."""

EXPECTED_SECONDS = 1.0
"""Assumed length of a call before anything is known of the model."""

_FIXED_TASK_RUNS = 8  # score-all and reduce, and room for artifacts


def batch_size(n_samples: int, concurrency: int) -> int:
    """Return how many samples a batch holds when nobody says so.

    A batch lasts some seconds at the allowed concurrency; there are at most `MAX_BATCHES` of
    them. What a batch that is lost had asked for is in the ledger.

    Args:
        n_samples: samples of the specification.
        concurrency: calls of its model that may be in flight.
    """
    if n_samples <= SINGLES:
        return 1
    wanted = ceil(concurrency * BATCH_SECONDS / EXPECTED_SECONDS)
    return max(min(wanted, n_samples), ceil(n_samples / MAX_BATCHES))


def cut(n_samples: int, size: int) -> tuple[tuple[int, int], ...]:
    """Return the ranges `[start, stop)` of batches of `size` samples; the last may be shorter."""
    return tuple((i, min(i + size, n_samples)) for i in range(0, n_samples, size))


def fitting_sizes(n_samples: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Return batch sizes, enlarged evenly until all stages fit into one flow run.

    Args:
        n_samples: samples of each specification.
        sizes: batch size wanted for each.
    """
    room = (MAX_TASK_RUNS - _FIXED_TASK_RUNS - len(n_samples)) // 2
    fitted = list(sizes)
    while sum(ceil(n / size) for n, size in zip(n_samples, fitted, strict=True)) > room:
        grown = [ceil(size * 1.25) for size in fitted]
        if all(size >= n for n, size in zip(n_samples, fitted, strict=True)):
            break
        fitted = grown
    return fitted


def interleaved(lists: Iterable[Sequence[T]]) -> Iterator[T]:
    """Yield the first of each list, then the second of each, and so on.

    Batches of specifications with different models so progress side by side.
    """
    nothing = object()
    for row in zip_longest(*lists, fillvalue=nothing):
        for item in row:
            if item is not nothing:
                yield item  # type: ignore[misc]
