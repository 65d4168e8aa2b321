"""Rows made of others: some of them, or those of several datasets side by side."""

import random
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tasks_lib.errors import DefinitionError
from tasks_lib.samples import Sample
from tasks_lib.sources.base import Rows, digest

Subsampling = Literal["head", "random"]
_SEED = 0


class _Selected(Rows):
    """Some rows of others, renumbered."""

    def __init__(self, rows: Rows, places: Sequence[int], how: str) -> None:
        self.columns = rows.columns
        self._rows = rows
        self._places = places
        self._how = how

    def __len__(self) -> int:
        return len(self._places)

    def take(self, places: Sequence[int]) -> list[Sample]:
        samples = self._rows.take([self._places[place] for place in places])
        return [replace(sample, index=place) for place, sample in zip(places, samples, strict=True)]

    def fingerprint(self) -> str:
        return digest(self._rows.fingerprint(), self._how)


class Aligned(Rows):
    """Rows of several datasets side by side: a sample maps each name to its row.

    There are as many as rows of the first dataset; a sample lacks the names of those that
    have no row at its place.

    Attributes:
        named: each dataset's rows, by the name they are called in samples.
    """

    def __init__(self, named: Mapping[str, Rows]) -> None:
        self.columns = tuple(named)
        self.named = dict(named)

    def __len__(self) -> int:
        return len(next(iter(self.named.values())))

    @property
    def uneven(self) -> bool:
        """Whether the datasets differ in length."""
        return len({len(rows) for rows in self.named.values()}) > 1

    def take(self, places: Sequence[int]) -> list[Sample]:
        first, *others = (
            rows.take([place for place in places if place < len(rows)] if self.uneven else places)
            for rows in self.named.values()
        )
        found = [
            Sample(sample.id, place, {self.columns[0]: sample.data})
            for place, sample in zip(places, first, strict=True)
        ]
        for name, samples in zip(self.columns[1:], others, strict=True):
            there = {sample.index: sample.data for sample in samples}
            for sample in found:
                if sample.index in there:
                    sample.data[name] = there[sample.index]
        return found

    def fingerprint(self) -> str:
        parts = ((name, rows.fingerprint()) for name, rows in self.named.items())
        return digest("aligned", *(part for pair in parts for part in pair))


def select(rows: Rows, num_samples: int | None, subsampling: Subsampling = "head") -> Rows:
    """Return `num_samples` of `rows`, or all when there are fewer or it is None.

    Args:
        rows: what to choose from.
        num_samples: how many to keep.
        subsampling: `head` keeps the first; `random` keeps a fixed random choice, in the
            original order.
    """
    if num_samples is None or num_samples >= len(rows):
        return rows
    places = chosen_places(len(rows), num_samples, subsampling)
    return _Selected(rows, places, f"{subsampling} {num_samples}")


def chosen_places(n_rows: int, num_samples: int, subsampling: Subsampling) -> Sequence[int]:
    """Return which of `n_rows` rows a selection of `num_samples` keeps, in order."""
    if subsampling == "head":
        return range(min(num_samples, n_rows))
    return array("Q", sorted(random.Random(_SEED).sample(range(n_rows), num_samples)))


def align(named: Mapping[str, Rows], *, uneven: bool = False) -> Aligned:
    """Return rows that hold, per name, that dataset's row at the same place.

    Ids are those of the first dataset.

    Args:
        named: each dataset's rows; at least one.
        uneven: whether they may differ in length, since nobody pairs their rows.

    Raises:
        DefinitionError: the datasets differ in length and must not.
    """
    aligned = Aligned(named)
    if aligned.uneven and not uneven:
        counts = ", ".join(f"'{name}' has {len(rows)}" for name, rows in named.items())
        raise DefinitionError(
            f"datasets that are used side by side differ in length: {counts} rows",
            fix="use datasets whose rows belong together, one by one",
        )
    return aligned
