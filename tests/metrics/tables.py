"""Score tables for the metric tests."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tasks_lib import jsontext
from tasks_lib.metrics.table import Counts, ScoreTable


def listed(values: Sequence[Any], field: str = "x", **counts: int) -> ScoreTable:
    """A table of one field, held as a Python list."""
    return ScoreTable({field: list(values)}, None, Counts(len(values), **counts))


def stored(values: Sequence[Any], field: str = "x", **counts: int) -> ScoreTable:
    """The same as read back from Parquet: an Arrow column in two chunks."""
    column = pa.array(values)
    half = len(values) // 2
    chunks = pa.chunked_array([column[:half], column[half:]], type=column.type)
    return ScoreTable({field: chunks}, None, Counts(len(values), **counts))


def mixed(values: Sequence[Any], field: str = "x", **counts: int) -> ScoreTable:
    """A field of several kinds, as read back from Parquet: JSON text."""
    column = pa.chunked_array([pa.array([jsontext.dumps(value) for value in values], pa.string())])
    return ScoreTable({field: column}, None, Counts(len(values), **counts), json_fields={field})
