"""The parts of `scores`: a typed column for each score, the same in all parts of a scorer."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.errors import StoreError
from tasks_lib.jsontext import dumps, storable
from tasks_lib.results.folder import parts
from tasks_lib.results.parquet import read_schema, read_table, write_table
from tasks_lib.results.schemas import SCORE_COLUMNS, score_schema
from tasks_lib.results.score_kinds import ScoreKind, joined_kind, kind_of

if TYPE_CHECKING:
    import pyarrow as pa

_OWN = "score."  # before the name of a score whose column would clash
_LEAST_INEXACT = 2.0**63  # integers from here on are written as the floats they equal


def column_name(score: str) -> str:
    """The column a score is stored in: its name, unless a row's own column has that."""
    clash = score in SCORE_COLUMNS or score.startswith(_OWN)
    return storable(_OWN + score if clash else score)


def score_name(column: str) -> str:
    """The score that a column stores."""
    return column.removeprefix(_OWN)


def stored_value(value: Any, kind: ScoreKind) -> Any:
    """What stands for a score in a column of this kind."""
    if value is None:
        return None
    match kind:
        case "json":
            return _json(value)
        case "number" | "share":
            return float(value)
        case "text":
            return storable(value)
    return value


def _json(value: Any) -> str:
    """JSON text of a value among others of other kinds.

    A number is written the same whether or not it was a float64 column before: which values
    share a column at first depends on the size of batches, and must not show.
    """
    if isinstance(value, float) and value.is_integer() and abs(value) < _LEAST_INEXACT:
        value = int(value)
    elif kind_of(value) == "number" and abs(value) >= _LEAST_INEXACT:
        value = float(value)
    return dumps(value)


def field_kinds(schema: "pa.Schema") -> dict[str, ScoreKind]:
    """The kinds of the score columns of a part."""
    return {
        field.name: (field.metadata or {}).get(b"kind", b"json").decode()
        for field in schema
        if field.name not in SCORE_COLUMNS
    }


def unify_scores(folder: Path) -> dict[str, ScoreKind]:
    """Give all parts of a scorer one schema, rewriting those that differ; return its kinds.

    Parts are written as batches finish, before it is known what later batches hold: a field
    may be missing from some, or be of another kind there.

    Raises:
        StoreError: a part can't be read or written.
    """
    schemas = {path: read_schema(path) for path in parts(folder)}
    kinds = _joined_kinds(schemas.values())
    target = score_schema(kinds)
    for path, schema in schemas.items():
        if not schema.equals(target, check_metadata=True):
            write_table(path, _recast(read_table(path), kinds))
    return kinds


def read_scores(folder: Path, without: Collection[str] = ()) -> "pa.Table":
    """Read all scores of a scorer, also where the parts have no common schema yet.

    Args:
        folder: the scorer's folder.
        without: columns that are not needed.

    Raises:
        StoreError: there are none, or a part is damaged.
    """
    import pyarrow as pa

    schemas = {path: read_schema(path) for path in parts(folder)}
    if not schemas:
        raise StoreError("there are no scores", where=str(folder), fix="resume the run")
    kinds = _joined_kinds(schemas.values())
    target = score_schema(kinds)
    names = [name for name in target.names if name not in without]
    return pa.concat_tables(
        read_table(path, names)
        if schema.equals(target)
        else _recast(read_table(path), kinds).select(names)
        for path, schema in schemas.items()
    )


def _joined_kinds(schemas: "Iterable[pa.Schema]") -> dict[str, ScoreKind]:
    joined: dict[str, ScoreKind] = {}
    for schema in schemas:
        for name, kind in field_kinds(schema).items():
            joined[name] = joined_kind(joined.get(name, "null"), kind)
    return joined


def _recast(table: "pa.Table", kinds: dict[str, ScoreKind]) -> "pa.Table":
    import pyarrow as pa

    had = field_kinds(table.schema)
    schema = score_schema(kinds)
    columns: list[Any] = [table.column(name) for name in SCORE_COLUMNS]
    for name, kind in kinds.items():
        if had.get(name, "null") == "null":
            columns.append(pa.nulls(table.num_rows, schema.field(name).type))
        elif had[name] == kind or {had[name], kind} == {"share", "number"}:
            columns.append(table.column(name))
        else:
            values = table.column(name).to_pylist()
            columns.append([None if value is None else _json(value) for value in values])
    return pa.table(columns, schema=schema)
