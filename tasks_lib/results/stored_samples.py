"""The solved samples of a stored run, as rows that need no solving."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from tasks_lib.jsontext import loads
from tasks_lib.results.folder import part_name, part_range, parts
from tasks_lib.results.parquet import read_table
from tasks_lib.results.samples import sample_records
from tasks_lib.samples import Sample
from tasks_lib.sources import Rows
from tasks_lib.sources.base import digest

if TYPE_CHECKING:
    import pyarrow as pa


class StoredSamples(Rows):
    """The solved samples of a run, as rows that need no solving.

    Args:
        folder: the specification's folder of sample parts, complete.
        spec_key: the specification that takes them over.
        places: which of the stored samples, by their index, in order; None is all.
    """

    def __init__(self, folder: Path, spec_key: str, places: Sequence[int] | None = None) -> None:
        self.columns = ()
        self._folder = folder
        self._spec_key = spec_key
        self._ranges = [part_range(part) for part in parts(folder)]
        stored = max((stop for _, stop in self._ranges), default=0)
        self._places = range(stored) if places is None else places
        self._part = lru_cache(maxsize=8)(self._read)

    def __len__(self) -> int:
        return len(self._places)

    def take(self, places: Sequence[int]) -> list[Sample]:
        """Return the samples at `places`, without what was recorded of them."""
        return [
            Sample(record.sample_id, place, loads(record.sample))
            for place in places
            for record in sample_records(self.table(place, place + 1))
        ]

    def table(self, start: int, stop: int) -> "pa.Table":
        """Return the rows of samples `[start, stop)` for the new run; it made no call for them.

        Raises:
            StoreError: a part is damaged.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        wanted = self._places[start:stop]
        touched = [(a, b) for a, b in self._ranges if a <= wanted[-1] and wanted[0] < b]
        table = pa.concat_tables([self._part(*cut) for cut in touched])
        position = pc.index_in(table.column("sample_index"), value_set=pa.array(wanted, pa.int64()))
        new = {
            "spec_key": pa.repeat(self._spec_key, len(table)),
            "sample_index": pc.add(pc.cast(position, pa.int64()), start),
            "cost_usd": pa.nulls(len(table), pa.float64()),
        }
        for name in ("calls", "ledger_hits", "input_tokens", "output_tokens"):
            kind = table.schema.field(name).type
            new[name] = pa.repeat(pa.scalar(0, kind), len(table))
        for name, column in new.items():
            place = table.schema.get_field_index(name)
            table = table.set_column(place, table.schema.field(place), column)
        return table.filter(pc.is_valid(position))

    def _read(self, start: int, stop: int) -> "pa.Table":
        return read_table(self._folder / part_name(start, stop))

    def fingerprint(self) -> str:
        files = [(path.name, path.stat().st_size) for path in parts(self._folder)]
        run, _, spec = self._folder.parts[-3:]  # the store may have moved
        return digest(run, spec, repr(files), str(len(self)))
