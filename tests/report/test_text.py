import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.report.text import one_line, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("yes\0no", r"yes\x00no"),
        ("\x1b[2J\x1b[31mred", r"\x1b[2J\x1b[31mred"),
        ("line\r\nline", "line\nline"),
        ("over\rwritten", r"over\x0dwritten".replace("x0d", "r")),
        ("a\tb\nc", "a\tb\nc"),
        ("\x9b31m", r"\x9b31m"),
        ("user\u202etxt.exe", r"user\u202etxt.exe"),
        ("half \ud800", r"half \ud800"),
        ("Zürich 😀 日本", "Zürich 😀 日本"),
    ],
)
def test_control_characters_are_written_out(text: str, shown: str):
    """BR-030."""
    assert printable(text) == shown


@given(st.text(st.characters()))
def test_nothing_that_moves_the_cursor_gets_through(text: str):
    shown = printable(text)
    shown.encode()
    assert {c for c in shown if unicodedata.category(c) == "Cc"} <= {"\n", "\t"}


@given(st.text(st.characters()), st.integers(1, 50))
def test_one_line_is_one_line_and_never_too_long(text: str, width: int):
    line = one_line(text, width)
    assert len(line) <= width
    assert "\n" not in line


def test_what_is_cut_says_so():
    assert one_line("a  b\n c", 10) == "a b c"
    assert one_line("abcdef", 4) == "abc…"
