"""A score field as numbers, by the rules all numeric metrics share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tasks_lib.errors import MetricError, bounded
from tasks_lib.metrics.table import MISSING, ScoreTable

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


Array: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


@dataclass(frozen=True, slots=True)
class Numbers:
    """The usable values of one score field.

    Attributes:
        values: float64, no NaN, in dataset order; infinities are kept. True is 1, False 0.
        are_bools: every value was a boolean, so their mean is a rate.
    """

    values: Array
    are_bools: bool

    @property
    def n(self) -> int:
        """How many values there are."""
        return len(self.values)

    @property
    def all_equal(self) -> bool:
        """Whether there is no spread at all; false without values."""
        return self.n > 0 and bool((self.values == self.values[0]).all())


def numbers(table: ScoreTable, field: str) -> Numbers:
    """Return the field's numbers; null, NaN and lacking values count as not scored.

    Raises:
        MetricError: no score has the field, or it holds something that is no number.
    """
    import numpy as np

    values, are_bools = _read(table, field)
    unknown = np.isnan(values)
    return Numbers(values[~unknown] if unknown.any() else values, are_bools)


def numbers_of_rows(table: ScoreTable, fields: Sequence[str]) -> list[Array]:
    """Return each field's numbers, of the rows that have one in every field.

    Raises:
        MetricError: as `numbers`.
    """
    import numpy as np

    columns = [_read(table, field)[0] for field in fields]
    unknown = np.isnan(columns).any(axis=0)
    return [column[~unknown] if unknown.any() else column for column in columns]


def _read(table: ScoreTable, field: str) -> tuple[Array, bool]:
    """Return one float a row, NaN where there is no number, and whether all were booleans."""
    column = table.stored(field)
    return _from_list(column, field) if isinstance(column, Sequence) else _from_arrow(column, field)


def _from_list(column: Sequence[Any], field: str) -> tuple[Array, bool]:
    import numpy as np

    known = [None if value is MISSING else value for value in column]
    present = [value for value in known if value is not None]
    for value in present:
        if not isinstance(value, bool | int | float):
            raise _no_number(field, value)
    try:
        values = np.array(known, dtype=np.float64)
    except OverflowError:
        raise MetricError(f"'{field}' holds an integer beyond the range of floats") from None
    return values, bool(present) and all(isinstance(value, bool) for value in present)


def _from_arrow(column: pa.ChunkedArray, field: str) -> tuple[Array, bool]:
    import numpy as np
    import pyarrow as pa

    kind = column.type
    is_bool = pa.types.is_boolean(kind)
    if not (
        is_bool or pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)
    ):
        present = column.drop_null()
        if len(present):
            raise _no_number(field, present[0].as_py())
        return np.full(len(column), np.nan), False
    narrow = column.cast(pa.uint8()) if is_bool else column
    return narrow.to_numpy().astype(np.float64, copy=False), is_bool


def _no_number(field: str, value: Any) -> MetricError:
    return MetricError(
        f"'{field}' holds {bounded(repr(value), 80)}, which is no number",
        fix="use the metric 'frequency', or let the scorer return numbers or booleans",
    )
