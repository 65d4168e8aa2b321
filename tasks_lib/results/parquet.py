"""Parquet files of a run: written whole or not at all, read with their checksums."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tasks_lib.errors import StoreError
from tasks_lib.results.arrow import lighten
from tasks_lib.results.files import write_atomically

if TYPE_CHECKING:
    import pyarrow as pa

_FORM = {"compression": "zstd", "compression_level": 3, "write_page_checksum": True}


def write_table(path: Path, table: "pa.Table") -> None:
    """Write a table as one zstd-compressed Parquet file, atomically.

    Raises:
        StoreError: it can't be written.
    """
    import pyarrow.parquet as pq

    write_atomically(path, lambda temporary: pq.write_table(table, temporary, **_FORM))


def read_table(path: Path, columns: Sequence[str] | None = None) -> "pa.Table":
    """Read one Parquet file.

    Raises:
        StoreError: it is missing or damaged.
    """
    import pyarrow.parquet as pq

    lighten()
    with (
        _damage_told(path),
        pq.ParquetFile(path, page_checksum_verification=True) as file,
    ):
        return file.read(columns=columns)


def read_schema(path: Path) -> "pa.Schema":
    """Read the schema of one Parquet file.

    Raises:
        StoreError: it is missing or damaged.
    """
    import pyarrow.parquet as pq

    with _damage_told(path):
        return pq.read_schema(path)


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException) as error:
        raise StoreError(
            f"can't read the part: {error}",
            where=str(path),
            fix="resume the run, which makes it again",
        ) from None
