"""The local source: rows of a CSV, JSON Lines or Parquet file."""

import json
import math
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator

from tasks_lib.base import Definition
from tasks_lib.errors import DefinitionError, SampleError
from tasks_lib.filters import Filter
from tasks_lib.samples import Sample
from tasks_lib.sources.base import Rows, digest
from tasks_lib.sources.csv import CsvTable
from tasks_lib.sources.ids import ID_COLUMN, id_text
from tasks_lib.sources.jsonl import JsonlTable
from tasks_lib.sources.parquet import ParquetTable
from tasks_lib.sources.table import Table

SUFFIXES = (".csv", ".jsonl", ".parquet")


def _checked_suffix(path: str) -> str:
    open_ended = "<<" in path or path.startswith("$")
    if not open_ended and Path(path).suffix.lower() not in SUFFIXES:
        raise ValueError(
            f"'{Path(path).name}' is not a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file"
        )
    return path


class LocalSource(Definition):
    """Rows of a file on disk."""

    type: Literal["local"] = "local"
    """Names this source."""
    file_path: Annotated[str, AfterValidator(_checked_suffix)]
    """A `.csv`, `.jsonl` or `.parquet` file, relative to the YAML file that names it."""
    filters: tuple[Filter, ...] = ()
    """Only rows that pass all of these are samples."""
    csv_types: Literal["auto", "text"] = "auto"
    """`auto` types CSV columns where nothing is lost; `text` keeps every cell, also an empty
    one, as text."""
    empty_cells: Literal["null", "nan"] | None = None
    """What an empty CSV cell is: null, or `nan` for scorers written to expect a float NaN."""

    def open(self, file: Path) -> "FileRows":
        """Read through `file` once and return its rows that pass the filters.

        Args:
            file: `file_path` made absolute.

        Raises:
            DefinitionError: the file can't be read, is malformed, repeats a `sample_id`, or a
                filter fails on one of its rows; naming file and line.
        """
        if file.exists() and not file.is_file():
            kind = "a folder" if file.is_dir() else "a pipe or a device"
            raise DefinitionError(f"is {kind}, not a file", str(file))
        try:
            table = self._table(file)
            positions = self._kept(table)
            has_ids = table.ids.settle(positions, _id_reader(table), table.place)
        except OSError as error:
            raise DefinitionError(f"can't be read: {error.strerror or error}", str(file)) from error
        return FileRows(table, positions, has_ids, self._settings())

    def _table(self, file: Path) -> Table:
        match file.suffix.lower():
            case ".csv":
                typed = self.csv_types == "auto"
                empty = math.nan if self.empty_cells == "nan" else (None if typed else "")
                return CsvTable(file, typed=typed, empty=empty)
            case ".jsonl":
                return JsonlTable(file)
            case ".parquet":
                return ParquetTable(file)
        raise DefinitionError(
            f"'{file.suffix}' files can't be read",
            str(file),
            f"use one of {', '.join(SUFFIXES)}",
        )

    def _kept(self, table: Table) -> Sequence[int]:
        if not self.filters:
            return range(len(table))
        kept = array("Q")
        for position, row in enumerate(table.scan()):
            try:
                if all(filter.matches(sample=row) for filter in self.filters):
                    kept.append(position)
            except SampleError as error:
                raise DefinitionError(
                    f"a filter fails on this row: {error}",
                    table.place(position),
                    "write a filter that holds for every row",
                ) from error
        return kept

    def _settings(self) -> str:
        return json.dumps(self.model_dump(mode="json", exclude={"file_path"}), sort_keys=True)


class FileRows(Rows):
    """Rows of a table at some positions, named by their id column or their place in the file.

    Attributes:
        ids: the hashes of the table's id column; None where it does not name the rows.
    """

    def __init__(
        self, table: Table, positions: Sequence[int], has_ids: bool, settings: str
    ) -> None:
        self.columns = table.columns
        self._table = table
        self._positions = positions
        self.ids = table.ids if has_ids else None
        self._settings = settings

    def __len__(self) -> int:
        return len(self._positions)

    def take(self, places: Sequence[int]) -> list[Sample]:
        positions = _picked(self._positions, places)
        rows = self._table.rows(positions)
        return [
            Sample(id=self._id(row, position), index=place, data=row)
            for place, position, row in zip(places, positions, rows, strict=True)
        ]

    def fingerprint(self) -> str:
        return digest(self._table.content_digest(), self._table.file.suffix, self._settings)

    def _id(self, row: dict[str, Any], position: int) -> str:
        named = id_text(row.get(ID_COLUMN)) if self.ids is not None else None
        return str(position) if named is None else named


def _picked(positions: Sequence[int], places: Sequence[int]) -> Sequence[int]:
    """Return `positions` at `places`; a range of a range stays one."""
    if isinstance(positions, range) and isinstance(places, range):
        return positions[places.start : places.stop : places.step]
    return [positions[place] for place in places]


def _id_reader(table: Table) -> Callable[[list[int]], list[Any]]:
    def read(positions: list[int]) -> list[Any]:
        return [row.get(ID_COLUMN) for row in table.rows(positions)]

    return read
