"""Where samples come from.

A source is a definition that opens as `Rows`, which read samples by their place when they are
asked for. `local` opens one file as a `table` (`csv`, `jsonl`, `parquet`) and names its rows by
their `ids`; `files` are the rows of several, `choosing` makes selections and alignments.

To add a source: write its file, then list it in `Source`. To add a form of file: write its
`Table`, then name it in `local`.
"""

from tasks_lib.sources.base import NO_ROWS, Rows
from tasks_lib.sources.choosing import Aligned, Subsampling, align, select
from tasks_lib.sources.files import RowsOfFiles
from tasks_lib.sources.local import LocalSource

Source = LocalSource
"""What a dataset's `source` may be."""

__all__ = [
    "NO_ROWS",
    "Aligned",
    "LocalSource",
    "Rows",
    "RowsOfFiles",
    "Source",
    "Subsampling",
    "align",
    "select",
]
