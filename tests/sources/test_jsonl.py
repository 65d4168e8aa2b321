"""JSON Lines files: kinds kept, bad lines named."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.sources import LocalSource, Rows


def open_jsonl(folder: Path, content: str | bytes, **settings: Any) -> Rows:
    file = folder / "data.jsonl"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return LocalSource(file_path="data.jsonl", **settings).open(file)


def data(rows: Rows) -> list[dict[str, Any]]:
    return [sample.data for sample in rows.read(0, len(rows))]


def test_ids_and_long_integers_keep_value_and_kind_br005(tmp_path: Path):
    content = (
        '{"sample_id":"9007199254740993","n":9007199254740993,"q":"a"}\n'
        '{"sample_id":"9007199254740995","n":null,"q":"b"}\n'
        '{"sample_id":"x","n":123456789012345678901234567890}\n'
    )
    rows = open_jsonl(tmp_path, content)
    assert [sample.id for sample in rows.read(0, 2)] == ["9007199254740993", "9007199254740995"]
    assert [row["n"] for row in data(rows)] == [
        9007199254740993,
        None,
        123456789012345678901234567890,
    ]
    assert rows.columns == ("sample_id", "n", "q")


def test_bad_lines_are_named_by_physical_line_and_column_br007(tmp_path: Path):
    content = (
        '{"input":"a","target":"b"}\n\n{"input":"c","target":"d"}\n'
        '{"input": "a", "target" "b"}\n["not","an","object"]\n\n'
    )
    with pytest.raises(DefinitionErrors) as caught:
        open_jsonl(tmp_path, content)
    first, second = map(str, caught.value.problems)
    assert first.endswith("data.jsonl:4: not JSON: Expecting ':' delimiter at column 25")
    assert second.endswith("data.jsonl:5: a row must be an object, not a list")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'"text"', "a row must be an object, not text"),
        (b"3", "a row must be an object, not a number"),
        (b"null", "a row must be an object, not null"),
        (b"true", "a row must be an object, not true or false"),
        (b'{"a": 1} {"a": 2}', "not JSON: Extra data at column 10"),
        (b'{"a": "\xe9"}', "not UTF-8 text: byte 0xe9 at byte 8"),
        (b"\0", "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"1" * 5000 + b"}", "Exceeds the limit"),
    ],
)
def test_lines_that_are_no_object(tmp_path: Path, line: bytes, message: str):
    with pytest.raises(DefinitionErrors, match=r"data\.jsonl:2: ") as caught:
        open_jsonl(tmp_path, b'{"a": 1}\n' + line + b"\n")
    assert message in str(caught.value)
    assert len(str(caught.value)) < 400


def test_at_most_twenty_bad_lines_are_reported(tmp_path: Path):
    with pytest.raises(DefinitionErrors) as caught:
        open_jsonl(tmp_path, "x\n" * 50)
    assert len(caught.value.problems) == 20


@pytest.mark.parametrize(
    ("first", "second"), [('"q1"', '"q1"'), ("1", '"1"'), ("1.5", '"1.5"'), ('"é"', '"\\u00e9"')]
)
def test_repeated_ids_name_both_lines_br008(tmp_path: Path, first: str, second: str):
    content = f'{{"sample_id":{first}}}\n\n{{"sample_id":{second}}}\n{{"sample_id":"q2"}}\n'
    with pytest.raises(DefinitionError, match=r"jsonl:3: sample_id '.*' is there twice.*jsonl:1"):
        open_jsonl(tmp_path, content)


@pytest.mark.parametrize(
    "hole", ["{}", '{"sample_id":null}', '{"sample_id":""}', '{"sample_id":[1]}']
)
def test_an_id_column_with_holes_gives_way_to_places(tmp_path: Path, hole: str):
    rows = open_jsonl(tmp_path, f'{{"sample_id":"a"}}\n{hole}\n{{"sample_id":"a"}}\n')
    assert [sample.id for sample in rows.read(0, 3)] == ["0", "1", "2"]


def test_forms_of_jsonl(tmp_path: Path):
    content = '\ufeff{"a":1}\r\n  \n{"b":{"c":[1,2.5,true]}}\n\n{"a":"{{ x }}\\u2028"}'
    rows = open_jsonl(tmp_path, content)
    assert data(rows) == [{"a": 1}, {"b": {"c": [1, 2.5, True]}}, {"a": "{{ x }}\u2028"}]
    assert rows.columns == ("a", "b")
    assert data(open_jsonl(tmp_path, "")) == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.lists(st.dictionaries(st.text(max_size=5).map("c{}".format), JSON, max_size=4), max_size=5)
)
def test_any_rows_come_back(tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]):
    content = "\n".join(json.dumps(row) for row in rows)
    opened = open_jsonl(tmp_path_factory.getbasetemp(), content)
    assert repr(data(opened)) == repr(rows)
    assert opened.columns == tuple(dict.fromkeys(name for row in rows for name in row))
