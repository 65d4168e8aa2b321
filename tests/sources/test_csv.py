"""CSV files: what is typed, what stays text, what is refused."""

import csv
import io
import math
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.sources import LocalSource, Rows


def open_csv(folder: Path, content: str | bytes, **settings: Any) -> Rows:
    file = folder / "data.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return LocalSource(file_path="data.csv", **settings).open(file)


def data(rows: Rows) -> list[dict[str, Any]]:
    return [sample.data for sample in rows.read(0, len(rows))]


def column(folder: Path, cells: list[str], **settings: Any) -> list[Any]:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([["c", "end"], *([cell, "x"] for cell in cells)])
    return [row["c"] for row in data(open_csv(folder, text.getvalue(), **settings))]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        pytest.param(["1", "-20", "0"], [1, -20, 0], id="integers"),
        pytest.param(["1.5", "-0.25", "1e-05", "1e+16"], [1.5, -0.25, 1e-05, 1e16], id="floats"),
        pytest.param(["0", "0.5", "1"], [0, 0.5, 1], id="both keep their own kind"),
        pytest.param(["9007199254740993"], [9007199254740993], id="beyond what floats hold"),
        pytest.param(["1", "12345678901234567890"], ["1", "12345678901234567890"], id="long ids"),
        pytest.param(["true", "FALSE", "True"], [True, False, True], id="booleans in any case"),
        pytest.param(["true", "1"], ["true", "1"], id="booleans and numbers do not mix"),
        pytest.param(["1", "", "2"], [1, None, 2], id="an empty cell is null"),
        pytest.param(["", ""], [None, None], id="an empty column is null"),
        pytest.param(["007", "7"], ["007", "7"], id="leading zeros"),
        pytest.param(["1.50"], ["1.50"], id="trailing zeros"),
        pytest.param(["1e5"], ["1e5"], id="another way to write a number"),
        pytest.param(["+1"], ["+1"], id="a plus sign"),
        pytest.param(["-0"], ["-0"], id="negative zero"),
        pytest.param([" 1"], [" 1"], id="white space"),
        pytest.param(["1_000"], ["1_000"], id="underscores"),
        pytest.param(["١٢"], ["١٢"], id="digits of other scripts"),
        pytest.param(["inf", "nan"], ["inf", "nan"], id="not finite"),
        pytest.param(["0.1000000000000000055"], ["0.1000000000000000055"], id="too precise"),
        pytest.param(["1"] * 5000 + ["x"], ["1"] * 5000 + ["x"], id="text after many numbers"),
        pytest.param(["", "1"] * 3000 + ["2.5"], [None, 1] * 3000 + [2.5], id="across blocks"),
    ],
)
def test_columns_are_typed_only_when_nothing_is_lost(
    tmp_path: Path, cells: list[str], expected: list[Any]
):
    values = column(tmp_path, cells)
    assert values == expected
    assert list(map(type, values)) == list(map(type, expected))


def test_words_for_missing_are_text_and_only_empty_is_null_br004(tmp_path: Path):
    content = 'q,target\n1,NA\n2,"null"\n3,None\n4,nan\n5,\n'
    values = [row["target"] for row in data(open_csv(tmp_path, content))]
    assert values == ["NA", "null", "None", "nan", None]


def test_leading_zeros_survive_in_ids_and_answers_br006(tmp_path: Path):
    content = "sample_id,question,target\n007,A Boston zip code?,02116\n0042,Holtsville?,00501\n"
    samples = open_csv(tmp_path, content).read(0, 9)
    assert [sample.id for sample in samples] == ["007", "0042"]
    assert [sample.data["target"] for sample in samples] == ["02116", "00501"]


def test_typing_can_be_switched_off_and_nan_asked_for(tmp_path: Path):
    assert column(tmp_path, ["1", "true", ""], csv_types="text") == ["1", "true", ""]
    values = column(tmp_path, ["1", ""], empty_cells="nan")
    assert values[0] == 1
    assert math.isnan(values[1])
    assert column(tmp_path, ["1", ""], empty_cells=None) == [1, None]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        pytest.param("a,b\r\n1,x\r\n", [{"a": 1, "b": "x"}], id="carriage returns"),
        pytest.param("\ufeffa,b\n1,x", [{"a": 1, "b": "x"}], id="a byte-order mark"),
        pytest.param('\ufeff"a",b\n1,x', [{"a": 1, "b": "x"}], id="a mark before a quote"),
        pytest.param("a\n\n1\n\n2\n\n", [{"a": 1}, {"a": 2}], id="blank lines"),
        pytest.param('a,b\n"x\ny\r\nz",1\n', [{"a": "x\ny\r\nz", "b": 1}], id="line ends in cells"),
        pytest.param('a\n"say ""hi"", ok"\n', [{"a": 'say "hi", ok'}], id="quotes in cells"),
        pytest.param('a\n5" pipe\n', [{"a": '5" pipe'}], id="a quote inside plain text"),
        pytest.param("a,b\n", [], id="no rows"),
        pytest.param("é 1,{{ x }}\né,ü\n", [{"é 1": "é", "{{ x }}": "ü"}], id="any header text"),
    ],
)
def test_forms_of_csv(tmp_path: Path, content: str, expected: list[dict[str, Any]]):
    assert data(open_csv(tmp_path, content)) == expected


@pytest.mark.parametrize(
    ("content", "messages"),
    [
        pytest.param("a,b\n1\n1,2\n1,2,3\n", [":2: 1 cells", ":4: 3 cells"], id="ragged rows"),
        pytest.param('a,b\n"x\n\ny",1\n1\n', [":5: 1 cells"], id="physical lines are counted"),
        pytest.param("a,a\n1,2\n", [":1: column 'a' is there twice"], id="equal names"),
        pytest.param(",a\n1,2\n", [":1: column 1 has no name"], id="no name"),
        pytest.param("", [":1: the file has no header"], id="empty file"),
        pytest.param(b"a\nok\n\xe9t\xe9\n", [":3: not UTF-8 text: byte 0xe9"], id="latin 1"),
        pytest.param(b"\xff\xfea\x00\n\x00", [":1: not UTF-8", ":2: a NUL"], id="UTF-16"),
        pytest.param("a\nx\0y\n", [":2: a NUL character"], id="NUL"),
        pytest.param('a\n"x\ny\n', [":2: not CSV: a quote opened here is never closed"], id="open"),
        pytest.param('a\n"x"y\n', [":2: not CSV: ',' expected after '\"'"], id="after a quote"),
        pytest.param("a\nx\ry\n", [":2: not CSV: a lone carriage return"], id="carriage return"),
    ],
)
def test_malformed_files_are_refused_by_line(
    tmp_path: Path, content: str | bytes, messages: list[str]
):
    with pytest.raises(DefinitionErrors) as caught:
        open_csv(tmp_path, content)
    assert len(caught.value.problems) == len(messages)
    for message in messages:
        assert f"data.csv{message}" in str(caught.value)


def test_at_most_twenty_bad_lines_are_reported(tmp_path: Path):
    with pytest.raises(DefinitionErrors) as caught:
        open_csv(tmp_path, "a,b\n" + "1\n" * 50)
    assert len(caught.value.problems) == 20


def test_very_long_cells_are_read(tmp_path: Path):
    assert column(tmp_path, ["x" * 300_000]) == ["x" * 300_000]


def test_many_columns_cost_no_more_than_many_cells(tmp_path: Path):
    names = [f"c{number}" for number in range(50_000)]
    began = time.process_time()
    (row,) = open_csv(tmp_path, f"{','.join(names)}\n{','.join(names)}\n").read(0, 1)
    assert row.data == dict(zip(names, names, strict=True))
    assert time.process_time() - began < 4


def test_repeated_ids_name_both_lines_br008(tmp_path: Path):
    with pytest.raises(DefinitionError, match=r":5: sample_id '1' .*csv:2"):
        open_csv(tmp_path, 'sample_id,q\n1,"a\nb"\n2,c\n1,d\n')


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
CELLS = TEXT | st.sampled_from(["1", "1.50", "true", "NA", "", "\r", "\n", '"', ",", "'", "\ufeff"])
TABLES = st.integers(1, 4).flatmap(
    lambda width: st.tuples(
        st.lists(TEXT.filter(bool), min_size=width, max_size=width, unique=True),
        st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=6),
    )
)


@given(TABLES, st.sampled_from(["\n", "\r\n"]))
def test_any_table_of_texts_comes_back(
    tmp_path_factory: pytest.TempPathFactory, table: tuple[list[str], list[list[str]]], end: str
):
    header, records = table
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows([header, *records])
    rows = open_csv(tmp_path_factory.getbasetemp(), text.getvalue(), csv_types="text")
    assert rows.columns == tuple(header)
    expected = [dict(zip(header, record, strict=True)) for record in records]
    assert data(rows) == expected
    assert [rows.take([place])[0].data for place in reversed(range(len(rows)))] == expected[::-1]


NUMERIC = st.integers().map(str) | st.floats().map(repr) | st.floats().map(lambda x: f"{x:.2f}")


@given(st.lists(NUMERIC | CELLS | st.booleans().map(str), min_size=1, max_size=4))
def test_typing_loses_nothing(tmp_path_factory: pytest.TempPathFactory, cells: list[str]):
    for cell, value in zip(cells, column(tmp_path_factory.getbasetemp(), cells), strict=True):
        match value:
            case None:
                assert cell == ""
            case bool():
                assert cell.lower() == str(value).lower()
            case _:
                assert str(value) == cell
