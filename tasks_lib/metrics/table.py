"""The scores of one scorer, as metrics see them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from tasks_lib import jsontext
from tasks_lib.errors import MetricError

if TYPE_CHECKING:
    import pyarrow as pa

Column: TypeAlias = "Sequence[Any] | pa.ChunkedArray"
"""One value a row."""


class _Missing(Enum):
    MISSING = "missing"


MISSING: Final = _Missing.MISSING
"""Stands in a column where a row's scores lack the field."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How the rows of one scorer ended; every row is in exactly one state.

    Attributes:
        n: scored and not excluded: the rows of the table.
        n_error: failed in the solver or in this scorer.
        n_skipped: never reached, by budget or interruption.
        n_excluded: left out by an action rule.
    """

    n: int
    n_error: int = 0
    n_skipped: int = 0
    n_excluded: int = 0

    @property
    def n_total(self) -> int:
        """All rows, whatever became of them."""
        return self.n + self.n_error + self.n_skipped + self.n_excluded

    @property
    def n_population(self) -> int:
        """Rows that were meant to be scored: all but the excluded."""
        return self.n_total - self.n_excluded


class ScoreTable:
    """One scorer's scores of the rows that count, in dataset order.

    Args:
        columns: score field -> one value a row: a list (MISSING where a row lacks the field)
            or an Arrow column as stored (null where it is null or lacking).
        metadata: a mapping or None a row, or an Arrow column of their JSON text; None when
            no row has any.
        counts: how all rows of the scorer ended.
        json_fields: fields whose Arrow column is JSON text: values of several kinds, lists,
            mappings.
        shares: fields of numbers that can only lie between 0 and 1.

    Raises:
        ValueError: a column is not `counts.n` long.
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        metadata: Column | None,
        counts: Counts,
        json_fields: Collection[str] = (),
        shares: Collection[str] = (),
    ) -> None:
        for name, column in {**columns, "metadata": metadata}.items():
            if column is not None and len(column) != counts.n:
                raise ValueError(f"column '{name}' has {len(column)} rows, not {counts.n}")
        self._columns = dict(columns)
        self._metadata = metadata
        self._json_fields = frozenset(json_fields)
        self.shares = frozenset(shares)
        self.counts = counts

    @property
    def n(self) -> int:
        """Rows of the table."""
        return self.counts.n

    @property
    def fields(self) -> tuple[str, ...]:
        """The score fields, as stored."""
        return tuple(self._columns)

    def has(self, field: str) -> bool:
        """Tell whether any row has the field."""
        return field in self._columns

    def stored(self, field: str) -> Column:
        """Return the column as it is held: a list, an Arrow column, or decoded JSON text.

        Raises:
            MetricError: no row has the field.
        """
        column = self._columns.get(field)
        if column is None:
            raise MetricError(f"no score has a field '{field}'", fix=self._advice(field))
        return self._decode(column) if field in self._json_fields else column

    def column(self, field: str) -> list[Any]:
        """Return the field's plain Python values, MISSING where a row lacks it.

        Raises:
            MetricError: no row has the field.
        """
        column = self.stored(field)
        return list(column) if isinstance(column, Sequence) else column.to_pylist()

    @cached_property
    def metadata(self) -> list[dict[str, Any] | None]:
        """The rows' metadata."""
        column = self._metadata
        if column is None:
            return [None] * self.n
        if isinstance(column, Sequence):
            return list(column)
        return [None if value is MISSING else value for value in self._decode(column)]

    def rows(self) -> list[dict[str, Any]]:
        """Return each row's score values by field, without the fields it lacks."""
        columns = [self.column(field) for field in self.fields]
        if not columns:
            return [{} for _ in range(self.n)]
        return [
            {
                field: value
                for field, value in zip(self.fields, values, strict=True)
                if value is not MISSING
            }
            for values in zip(*columns, strict=True)
        ]

    def _advice(self, field: str) -> str:
        known = ", ".join(f"'{name}'" for name in self.fields) or "none"
        close = get_close_matches(field, self.fields, n=1)
        meant = f"did you mean '{close[0]}'? " if close else ""
        return f"{meant}known fields: {known}"

    @staticmethod
    def _decode(column: Column) -> list[Any]:
        """Return the values of a column of JSON text; null there is a lacking value."""
        texts = column if isinstance(column, Sequence) else column.to_pylist()
        return [MISSING if text is None else jsontext.loads(text) for text in texts]
