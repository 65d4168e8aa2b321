"""The parts of `samples`: written from records, read back as such."""

from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from tasks_lib.results.arrow import lighten
from tasks_lib.results.parquet import read_table, write_table
from tasks_lib.results.schemas import SAMPLE_COLUMNS, SampleRecord, sample_schema

if TYPE_CHECKING:
    import pyarrow as pa

_CELLS = attrgetter(*SAMPLE_COLUMNS)


def write_samples(part: Path, records: Sequence[SampleRecord]) -> None:
    """Write the sample rows of one batch, in their order.

    Raises:
        StoreError: they can't be written.
    """
    import pyarrow as pa

    lighten()
    columns = [*zip(*map(_CELLS, records), strict=True)] or [() for _ in SAMPLE_COLUMNS]
    write_table(part, pa.table(columns, schema=sample_schema()))


def read_samples(part: Path) -> list[SampleRecord]:
    """Read the sample rows of one batch back, as they were written.

    Raises:
        StoreError: the part is missing or damaged.
    """
    return sample_records(read_table(part))


def sample_records(table: "pa.Table") -> list[SampleRecord]:
    """Return the rows of a table of samples."""
    import pyarrow as pa

    index = table.schema.get_field_index("started_at")
    micros = table.column(index).cast(pa.timestamp("us")).cast(pa.int64())
    table = table.set_column(index, "started_at", micros)
    columns = [table.column(name).to_pylist() for name in SAMPLE_COLUMNS]
    return [SampleRecord(*row) for row in zip(*columns, strict=True)]


def statuses(path: Path) -> dict[str, int]:
    """Count the rows of a part by status.

    Raises:
        StoreError: the part is damaged.
    """
    import pyarrow.compute as pc

    counted = pc.value_counts(read_table(path, ["status"]).column("status").combine_chunks())
    return {entry["values"]: entry["counts"] for entry in counted.to_pylist()}
