"""The sample: one row of a dataset on its way through solver and scorers."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sample:
    """One dataset row.

    Attributes:
        id: the row's `sample_id` column as text, else its index.
        index: zero-based place among the selected rows; restores dataset order.
        data: the columns; what templates and snippets see as `sample`.
    """

    id: str
    index: int
    data: dict[str, Any]
