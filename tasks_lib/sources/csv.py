"""CSV: text cells under a header, typed only where nothing is lost."""

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from tasks_lib.sources.ids import ID_COLUMN
from tasks_lib.sources.table import LineTable, Problems, RowData, decoded

_MARK = "\ufeff"
_BLOCK = 4096
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_FLOAT = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+][0-9]+)?")
_LONGEST_CELL = 2**31 - 1
_MEANING = {
    "unexpected end of data": "a quote opened here is never closed",
    "new-line character seen in unquoted field": "a lone carriage return ends a line",
}

Kind = str
"""`bool`, `number`, `text`, or empty while a column has had no cell with content."""


class CsvTable(LineTable):
    """Rows of a `.csv` file.

    A column is numbers when each of its cells is exactly how Python writes that number and
    no integer has more than 18 digits; it is booleans when each is `true` or `false` in any
    case; else text: `007`, `1.50`, `1e5` and `NA` stay as written.

    Args:
        file: an existing file.
        typed: whether columns may be anything but text.
        empty: the value of an empty cell.

    Raises:
        DefinitionErrors: a header without or with equal names; every line (the first 20) that
            is no UTF-8, misquoted, or has more or fewer cells than the header.
    """

    def __init__(self, file: Path, *, typed: bool = True, empty: Any = None) -> None:
        super().__init__(file)
        csv.field_size_limit(_LONGEST_CELL)  # the module's own limit would refuse long traces
        self._empty = empty
        problems = Problems(file)
        with file.open("rb") as stream:
            lines = _Lines(stream)
            records = _records(lines, problems)
            _, header_line, header = next(records, (0, 1, []))
            problems.settle()
            self.columns = _checked_header(header, header_line, problems)
            kinds = self._index(records, problems, typed)
            self._end = lines.offset
        problems.settle()
        self._converters = [self._converter(kind) for kind in kinds]

    def parse(self, block: bytes) -> list[RowData]:
        lines = io.StringIO(decoded(block), newline="\n")
        return [
            {
                name: convert(cell)
                for name, convert, cell in zip(self.columns, self._converters, record, strict=True)
            }
            for record in csv.reader(lines, strict=True)
            if record
        ]

    def _index(
        self, records: Iterator[tuple[int, int, list[str]]], problems: Problems, typed: bool
    ) -> list[Kind]:
        """Note where records start and their ids; return the columns' kinds."""
        width = len(self.columns)
        id_column = self.columns.index(ID_COLUMN) if ID_COLUMN in self.columns else None
        kinds: list[Kind] = ["" if typed else "text"] * width
        block: list[list[str]] = []
        for start, line, record in records:
            if len(record) != width:
                problems.add(
                    line,
                    f"{len(record)} cells where the header has {width}",
                    "quote cells that hold commas or line ends",
                )
                continue
            self._starts.append(start)
            self.ids.add(None if id_column is None else record[id_column])
            block.append(record)
            if len(block) == _BLOCK:
                kinds = _narrowed(kinds, block)
                block.clear()
        return _narrowed(kinds, block)

    def _converter(self, kind: Kind) -> Callable[[str], Any]:
        empty = self._empty
        match kind:
            case "number":
                return lambda cell: _number(cell) if cell else empty
            case "bool":
                return lambda cell: cell[0] in "tT" if cell else empty
        return lambda cell: cell or empty


class _Lines:
    """The lines of a file as text, counting lines and bytes; a bad line does not end it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.offset = 0
        self.number = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        raw = next(self._stream)
        self.offset += len(raw)
        self.number += 1
        text = decoded(raw)
        return text.removeprefix(_MARK) if self.number == 1 else text


def _records(lines: _Lines, problems: Problems) -> Iterator[tuple[int, int, list[str]]]:
    """Yield byte offset, line and cells of every record that can be read."""
    reader = csv.reader(lines, strict=True)
    while True:
        start, line = lines.offset, lines.number + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            meaning = next((words for hint, words in _MEANING.items() if hint in str(error)), "")
            problems.add(line, f"not CSV: {meaning or error}", "double the quotes inside a cell")
        except ValueError as error:
            problems.add(lines.number, str(error), "save the file as UTF-8")
        else:
            if record:
                yield start, line, record


def _checked_header(names: list[str], line: int, problems: Problems) -> tuple[str, ...]:
    if not names:
        problems.add(line, "the file has no header", "name the columns in the first line")
    seen = set()
    for number, name in enumerate(names, 1):
        if not name:
            problems.add(line, f"column {number} has no name", "name every column")
        elif name in seen:
            problems.add(line, f"column '{name}' is there twice", "give it a name of its own")
        seen.add(name)
    problems.settle()
    return tuple(names)


def _narrowed(kinds: Sequence[Kind], block: list[list[str]]) -> list[Kind]:
    """Return the kinds that fit both the cells seen before and those of `block`."""
    if not block:
        return list(kinds)
    return [
        kind if kind == "text" else _joined(kind, _kind([cell for cell in cells if cell]))
        for kind, cells in zip(kinds, zip(*block, strict=True), strict=True)
    ]


def _joined(old: Kind, new: Kind) -> Kind:
    return old or new if not (old and new) or old == new else "text"


def _kind(cells: list[str]) -> Kind:
    if not cells:
        return ""
    if all(cell.lower() in ("true", "false") for cell in cells):
        return "bool"
    return "number" if all(map(_is_number, cells)) else "text"


def _is_number(cell: str) -> bool:
    if _INTEGER.fullmatch(cell):
        return True
    if not _FLOAT.fullmatch(cell) or ("." not in cell and "e" not in cell):
        return False
    return repr(float(cell)) == cell


def _number(cell: str) -> int | float:
    return float(cell) if "." in cell or "e" in cell else int(cell)
