"""Parquet: rows by row group, their values as JSON has them."""

import threading
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from tasks_lib.errors import DefinitionError
from tasks_lib.sources.ids import ID_COLUMN
from tasks_lib.sources.jsonable import needs_care, plain
from tasks_lib.sources.table import RowData, Table

MAX_ROWS = 100_000_000
"""Rows a file may say it has: its index takes 8 bytes for each, and a few kilobytes can say any."""
MAX_GROUP = 4 << 30
"""Bytes a row group may have unpacked; writers make groups of a hundredth, and one page of it
could be as large, which is held in memory."""
MAX_RATIO = 1000
"""Times its own size a file may have unpacked; near-equal texts reach a few hundred."""
RATIO_FLOOR = 256 << 20
"""Bytes unpacked below which the ratio is of no interest: they do no harm."""

_PIECE = 1024
_MOST_CURSORS = 4


class ParquetTable(Table):
    """Rows of a `.parquet` file.

    Row groups are decoded in pieces from their start. Readers are kept where they stand, so
    reading forward, even in several places at once, decodes nothing twice.

    Args:
        file: an existing file.

    Raises:
        DefinitionError: it is not a Parquet file, has columns of equal names, or would be out
            of all proportion when unpacked.
    """

    def __init__(self, file: Path) -> None:
        import pyarrow
        import pyarrow.parquet as pq

        super().__init__(file)
        try:
            self._parquet = pq.ParquetFile(file, buffer_size=1 << 20, pre_buffer=False)
        except pyarrow.ArrowInvalid as error:
            raise DefinitionError(f"not a Parquet file: {error}", str(file)) from error
        schema = self._parquet.schema_arrow
        self.columns = tuple(schema.names)
        if repeated := {name for name in self.columns if self.columns.count(name) > 1}:
            raise DefinitionError(f"columns {sorted(repeated)} are there twice", str(file))
        self._careful = {field.name for field in schema if needs_care(field.type)}
        metadata = self._parquet.metadata
        self._check_proportions(metadata)
        sizes = (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
        self._group_starts = array("Q", accumulate(sizes, initial=0))
        self._cursors: list[_Cursor] = []
        self._lock = threading.Lock()
        self._index_ids()

    def __len__(self) -> int:
        return int(self._group_starts[-1])

    def rows(self, positions: Sequence[int]) -> list[RowData]:
        self.check_unchanged()
        found: list[RowData] = []
        with self._lock:
            done = 0
            while done < len(positions):
                cursor = self._cursor_at(positions[done])
                stop = done + 1
                while stop < len(positions) and cursor.holds(positions[stop]):
                    stop += 1
                found += self._rows_of(cursor, positions[done:stop])
                done = stop
        return found

    def scan(self) -> Iterator[RowData]:
        for batch in self._parquet.iter_batches(_PIECE):
            yield from self._plain_rows(batch)

    def place(self, position: int) -> str:
        return f"{self.file} row {position + 1}"

    def _check_proportions(self, metadata: Any) -> None:
        groups = map(metadata.row_group, range(metadata.num_row_groups))
        unpacked = [group.total_byte_size for group in groups]
        packed = self.file.stat().st_size
        if metadata.num_rows > MAX_ROWS:
            said = f"{metadata.num_rows:,} rows, more than {MAX_ROWS:,}"
        elif max(unpacked, default=0) > MAX_GROUP:
            said = f"a row group of {max(unpacked):,} bytes unpacked, more than {MAX_GROUP:,}"
        elif sum(unpacked) > max(RATIO_FLOOR, MAX_RATIO * packed):
            said = f"{sum(unpacked):,} bytes unpacked, more than {MAX_RATIO:,} times its size"
        else:
            return
        raise DefinitionError(f"has {said}", str(self.file), "write it anew, in several files")

    def _index_ids(self) -> None:
        if ID_COLUMN not in self.columns:
            for _ in range(len(self)):
                self.ids.add(None)
            return
        for batch in self._parquet.iter_batches(1 << 16, columns=[ID_COLUMN]):
            for row in self._plain_rows(batch):
                self.ids.add(row[ID_COLUMN])

    def _cursor_at(self, position: int) -> "_Cursor":
        """Return a reader whose piece holds `position`: the nearest behind it, or a new one."""
        group = bisect_right(self._group_starts, position) - 1
        behind = [
            cursor for cursor in self._cursors if cursor.group == group and cursor.start <= position
        ]
        if behind:
            cursor = max(behind, key=lambda cursor: cursor.start)
            self._cursors.remove(cursor)
        else:
            batches = self._parquet.iter_batches(_PIECE, row_groups=[group])
            cursor = _Cursor(group, self._group_starts[group], batches)
        cursor.advance_to(position)
        self._cursors.append(cursor)
        del self._cursors[:-_MOST_CURSORS]
        return cursor

    def _rows_of(self, cursor: "_Cursor", positions: Sequence[int]) -> list[RowData]:
        offsets = [position - cursor.start for position in positions]
        if offsets == list(range(offsets[0], offsets[0] + len(offsets))):
            return self._plain_rows(cursor.piece.slice(offsets[0], len(offsets)))
        return self._plain_rows(cursor.piece.take(offsets))

    def _plain_rows(self, batch: Any) -> list[RowData]:
        columns = []
        for name in batch.schema.names:
            values = batch.column(name).to_pylist(maps_as_pydicts="lossy")
            columns.append([plain(value) for value in values] if name in self._careful else values)
        return [
            dict(zip(batch.schema.names, row, strict=True)) for row in zip(*columns, strict=True)
        ]


class _Cursor:
    """A place in a row group that moves forward, holding one decoded piece."""

    def __init__(self, group: int, start: int, batches: Iterator[Any]) -> None:
        self.group = group
        self.start = start
        self._batches = batches
        self.piece = next(batches)

    def holds(self, position: int) -> bool:
        return self.start <= position < self.start + len(self.piece)

    def advance_to(self, position: int) -> None:
        while not self.holds(position):
            self.start += len(self.piece)
            self.piece = next(self._batches)
