"""JSON Lines: one object per line."""

import json
from pathlib import Path

from tasks_lib.jsontext import loads
from tasks_lib.sources.ids import ID_COLUMN
from tasks_lib.sources.table import LineTable, Problems, RowData, decoded

_MARK = b"\xef\xbb\xbf"


class JsonlTable(LineTable):
    """Rows of a `.jsonl` file. Blank lines are skipped; integers are exact however long.

    Args:
        file: an existing file.

    Raises:
        DefinitionErrors: naming every line (the first 20) that is no JSON object.
    """

    def __init__(self, file: Path) -> None:
        super().__init__(file)
        columns: dict[str, None] = {}
        problems = Problems(file)
        with file.open("rb") as stream:
            for number, line in enumerate(stream, 1):
                start = self._end
                self._end += len(line)
                if number == 1 and line.startswith(_MARK):
                    start, line = start + len(_MARK), line[len(_MARK) :]
                if not line.strip():
                    continue
                try:
                    row = _row(line)
                except ValueError as error:
                    problems.add(number, str(error))
                    continue
                self._starts.append(start)
                self.ids.add(row.get(ID_COLUMN))
                if not row.keys() <= columns.keys():
                    columns |= dict.fromkeys(row)
        problems.settle()
        self.columns = tuple(columns)

    def parse(self, block: bytes) -> list[RowData]:
        lines = block.split(b"\n")
        return [loads(line) for line in lines if line.strip()]


def _row(line: bytes) -> RowData:
    try:
        row = loads(line)
    except UnicodeDecodeError:
        decoded(line)
        raise
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error.msg} at column {error.colno}") from error
    if not isinstance(row, dict):
        raise ValueError(f"a row must be an object, not {_KINDS[type(row)]}")
    return row


_KINDS = {
    list: "a list",
    str: "text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    type(None): "null",
}
