"""The streams of a command when nobody reads them, and what they may show."""

import io
import os
from pathlib import Path

import pytest

from tasks_lib.streams import Outlet

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")


def outlet(path: str | Path | int, tolerated: type[OSError]) -> Outlet:
    file = io.FileIO(path, "w")
    stream = io.TextIOWrapper(file, "utf-8", write_through=True)
    return Outlet(stream, tolerated, str.upper)


def test_texts_are_edited_and_written_at_once(tmp_path: Path):
    with outlet(tmp_path / "out", BrokenPipeError) as stream:
        assert stream.write("text") == 4
        assert (tmp_path / "out").read_text() == "TEXT"


def test_characters_that_the_encoding_has_not_are_escaped(tmp_path: Path):
    file = io.TextIOWrapper(io.FileIO(tmp_path / "out", "w"), "ascii", write_through=True)
    with Outlet(file, BrokenPipeError, str) as stream:
        stream.write("a … \ud800")
    assert (tmp_path / "out").read_text() == "a \\u2026 \\ud800"


@FULL
def test_what_is_tolerated_goes_nowhere_from_then_on():
    with outlet("/dev/full", OSError) as stream:
        for _ in range(2):
            assert stream.write("text") == 4
            stream.flush()


@FULL
def test_what_is_not_tolerated_is_raised():
    with pytest.raises(OSError, match="No space left"), outlet("/dev/full", BrokenPipeError) as out:
        out.write("text")


def test_a_pipe_without_reader_is_tolerated():
    read_end, write_end = os.pipe()
    os.close(read_end)
    with outlet(write_end, BrokenPipeError) as stream:
        assert stream.write("text") == len("text")
        stream.flush()
        assert stream.write("more") == len("more"), "and so is all that follows"
