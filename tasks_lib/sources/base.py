"""Rows: samples read piece by piece, by place."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence

from tasks_lib.samples import Sample


class Rows(ABC):
    """The samples of a dataset, read on demand; no more than is asked for is in memory.

    Several threads may read at once.

    Attributes:
        columns: names in the order they are first seen.
    """

    columns: tuple[str, ...]

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of samples."""

    @abstractmethod
    def take(self, places: Sequence[int]) -> list[Sample]:
        """Return the samples at `places`, in that order, `index` being the place.

        Raises:
            DefinitionError: the data can't be read, or changed since it was opened.
        """

    @abstractmethod
    def fingerprint(self) -> str:
        """Return a hash of the content and of everything that picked and shaped the rows."""

    def read(self, start: int, stop: int) -> list[Sample]:
        """Return the samples at places `start` up to `stop`, as `take` does."""
        return self.take(range(start, min(stop, len(self))))


class _NoRows(Rows):
    """What a task without samples reads."""

    columns = ()

    def __len__(self) -> int:
        return 0

    def take(self, places: Sequence[int]) -> list[Sample]:
        return []

    def fingerprint(self) -> str:
        return "none"


NO_ROWS = _NoRows()


def digest(*parts: str) -> str:
    """Return one hash of several texts; where one ends and the next begins counts."""
    total = hashlib.sha256()
    for part in parts:
        encoded = part.encode()
        total.update(len(encoded).to_bytes(8) + encoded)
    return total.hexdigest()
