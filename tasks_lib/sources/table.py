"""Tables: what every file form offers the local source."""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterator, Sequence
from hashlib import file_digest
from itertools import groupby
from pathlib import Path
from typing import Any, BinaryIO

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.sources.ids import IdIndex

MOST_REPORTED = 20
"""Bad lines of one file that are reported together."""

RowData = dict[str, Any]


class Table(ABC):
    """All rows of one file, by position from 0.

    Attributes:
        file: the file.
        columns: names in the order they are first seen.
        ids: the hashes of the `sample_id` column.
    """

    columns: tuple[str, ...]

    def __init__(self, file: Path) -> None:
        self.file = file
        self.ids = IdIndex()
        self._stamp = _stamp(file)

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def rows(self, positions: Sequence[int]) -> list[RowData]:
        """Return the rows at `positions`, in that order."""

    @abstractmethod
    def scan(self) -> Iterator[RowData]:
        """Return every row, in order."""

    @abstractmethod
    def place(self, position: int) -> str:
        """Return where a row stands, for messages."""

    def content_digest(self) -> str:
        """Return the hash of the file's bytes."""
        with self.file.open("rb") as stream:
            return file_digest(stream, "sha256").hexdigest()

    def check_unchanged(self) -> None:
        """Raise DefinitionError when the file is not, or no longer, the one that was opened."""
        try:
            unchanged = _stamp(self.file) == self._stamp
        except OSError as error:
            problem = f"can't be read any more: {error.strerror}"
            raise DefinitionError(problem, str(self.file)) from error
        if not unchanged:
            problem = "the file changed while it was being read"
            raise DefinitionError(problem, str(self.file), "start again")


class LineTable(Table):
    """A text file whose rows are found by byte offset."""

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        self._starts = array("Q")
        self._end = 0

    @abstractmethod
    def parse(self, block: bytes) -> list[RowData]:
        """Return the rows of consecutive records' bytes."""

    def __len__(self) -> int:
        return len(self._starts)

    def rows(self, positions: Sequence[int]) -> list[RowData]:
        self.check_unchanged()
        found: list[RowData] = []
        with self.file.open("rb") as stream:
            for first, last in _runs(positions):
                found += self.parse(self._block(stream, first, last))
        return found

    def scan(self) -> Iterator[RowData]:
        for start in range(0, len(self), 1000):
            yield from self.rows(range(start, min(start + 1000, len(self))))

    def place(self, position: int) -> str:
        remaining = self._starts[position]
        line = 1
        with self.file.open("rb") as stream:
            while block := stream.read(min(remaining, 1 << 20)):
                line += block.count(b"\n")
                remaining -= len(block)
        return f"{self.file}:{line}"

    def _block(self, stream: BinaryIO, first: int, last: int) -> bytes:
        start = self._starts[first]
        stop = self._starts[last + 1] if last + 1 < len(self) else self._end
        stream.seek(start)
        return stream.read(stop - start)


class Problems:
    """The bad lines of a file, reported together when there are enough or the file ends."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._found: list[DefinitionError] = []

    def add(self, line: int, problem: str, fix: str = "") -> None:
        """Note one; raise DefinitionErrors when that is as many as are reported."""
        self._found.append(DefinitionError(problem, f"{self._file}:{line}", fix))
        if len(self._found) >= MOST_REPORTED:
            self.settle()

    def settle(self) -> None:
        """Raise DefinitionErrors if anything was noted."""
        if self._found:
            raise DefinitionErrors(self._found)


def decoded(raw: bytes) -> str:
    """Return `raw` as text.

    Raises:
        ValueError: it is not UTF-8, or holds a NUL.
    """
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"not UTF-8 text: byte 0x{raw[error.start]:02x} at byte {error.start + 1} of the line"
        ) from error
    if "\0" in text:
        raise ValueError("a NUL character: this is no UTF-8 text file")
    return text


def _stamp(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


def _runs(positions: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) of every run of consecutive positions."""
    if isinstance(positions, range) and positions.step == 1:
        if positions:
            yield positions[0], positions[-1]
        return
    for _, run in groupby(enumerate(positions), key=lambda pair: pair[1] - pair[0]):
        members = [position for _, position in run]
        yield members[0], members[-1]
