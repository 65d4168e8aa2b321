"""Where samples come from. To add a source: write its file, then list it in `Source`."""

from tasks_lib.sources.base import NO_ROWS, Aligned, Rows, Subsampling, align, select
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
