"""Reading rows from the pages of a SQLite file, whatever else of it is damaged.

SQLite gives up on what a lost page led to. The pages that hold rows can be told by themselves:
this reads each of them, as https://www.sqlite.org/fileformat2.html describes them.
"""

import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

Row = tuple[Any, ...]

_DEFAULT_PAGE = 4096
_TABLE_LEAF = 0x0D
_FILE_HEADER = 100
_JOURNAL_HEADER, _FRAME_HEADER = 32, 24
_LARGEST_ROW = 1 << 30
_INTEGER_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}


def rows(path: Path) -> Iterator[Row]:
    """Yield every row that can be read of every table, in no order.

    Rows that were deleted may be among them, and rows of damaged pages may hold nonsense: who
    asks must know how a row looks.

    Args:
        path: the file; its write-ahead journal beside it is read too.

    Raises:
        OSError: the file can't be read.
    """
    with path.open("rb") as file:
        journal_path = path.with_name(f"{path.name}-wal")
        if not journal_path.exists():
            yield from _Pages(file).rows()
            return
        with journal_path.open("rb") as journal:
            yield from _Pages(file, journal).rows()


class _Pages:
    """The pages of a file, those in its journal in place of what they replace."""

    def __init__(self, file: BinaryIO, journal: BinaryIO | None = None) -> None:
        self._file = file
        self._journal = journal
        header = file.read(18)
        size = int.from_bytes(header[16:18], "big")
        known = header.startswith(b"SQLite format 3\0") and size >= 512 and not size & (size - 1)
        self._size = size if known else _DEFAULT_PAGE
        self._count = -(-file.seek(0, 2) // self._size)
        self._newer = self._frames(journal) if journal else {}

    def _frames(self, journal: BinaryIO) -> dict[int, int]:
        """Where in the journal the newest committed form of each page is."""
        found: dict[int, int] = {}
        pending: dict[int, int] = {}
        header = journal.read(_JOURNAL_HEADER)
        position = _JOURNAL_HEADER
        while len(frame := journal.read(_FRAME_HEADER)) == _FRAME_HEADER:
            number, committed = struct.unpack(">II", frame[:8])
            if frame[8:16] != header[16:24]:  # left over from an earlier use of the file
                break
            pending[number] = position + _FRAME_HEADER
            if committed:
                found |= pending
                pending.clear()
            position += _FRAME_HEADER + self._size
            journal.seek(position)
        return found

    def _page(self, number: int) -> bytes:
        at = self._newer.get(number)
        if at is not None and self._journal is not None:
            self._journal.seek(at)
            return self._journal.read(self._size)
        self._file.seek((number - 1) * self._size)
        return self._file.read(self._size)

    def rows(self) -> Iterator[Row]:
        for number in range(1, max([self._count, *self._newer]) + 1):
            page = self._page(number)
            start = _FILE_HEADER if number == 1 else 0
            if len(page) < start + 8 or page[start] != _TABLE_LEAF:
                continue
            cells = int.from_bytes(page[start + 3 : start + 5], "big")
            for cell in range(cells):
                with suppress(IndexError, KeyError, ValueError, struct.error):
                    pointer = start + 8 + 2 * cell
                    yield self._row(page, int.from_bytes(page[pointer : pointer + 2], "big"))

    def _row(self, page: bytes, position: int) -> Row:
        length, position = _varint(page, position)
        _, position = _varint(page, position)  # its number
        if length > _LARGEST_ROW:
            raise ValueError("no row is that large")
        largest = self._size - 35
        local = length
        if length > largest:
            least = (self._size - 12) * 32 // 255 - 23
            local = least + (length - least) % (self._size - 4)
            local = local if local <= largest else least
        payload = bytearray(page[position : position + local])
        following = int.from_bytes(page[position + local : position + local + 4], "big")
        while len(payload) < length:
            overflow = self._page(following) if following else b""
            if len(overflow) < 5:
                raise ValueError("the rest of the row is lost")
            payload += overflow[4 : 4 + length - len(payload)]
            following = int.from_bytes(overflow[:4], "big")
        return _values(bytes(payload))


def _values(payload: bytes) -> Row:
    header, place = _varint(payload, 0)
    kinds = []
    while place < header:
        kind, place = _varint(payload, place)
        kinds.append(kind)
    values = []
    for kind in kinds:
        value, place = _value(payload, place, kind)
        values.append(value)
    return tuple(values)


def _value(payload: bytes, place: int, kind: int) -> tuple[Any, int]:
    if kind >= 12:
        stop = place + (kind - 12) // 2
        if stop > len(payload):
            raise ValueError("the row is cut off")
        data = payload[place:stop]
        return (data.decode() if kind % 2 else data), stop
    if kind in _INTEGER_SIZES:
        stop = place + _INTEGER_SIZES[kind]
        return int.from_bytes(payload[place:stop], "big", signed=True), stop
    if kind == 7:
        return struct.unpack(">d", payload[place : place + 8])[0], place + 8
    return {0: None, 8: 0, 9: 1}[kind], place


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number of up to nine bytes, and where it ends."""
    value = 0
    for byte in data[place : place + 8]:
        value = value << 7 | byte & 0x7F
        place += 1
        if byte < 0x80:
            return value, place
    return value << 8 | data[place], place + 1
