"""Walking through JSON finds what reading it whole does, wherever it is cut."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.results.task_result import json_stream
from tasks_lib.results.task_result.json_stream import JsonStream

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=12
)


def walked(stream):
    """Read a value by walking through everything in it."""
    match stream.peek():
        case "{":
            return {key: walked(stream) for key in stream.members()}
        case "[":
            return [walked(stream) for _ in stream.elements()]
    return stream.value()


@given(VALUES, st.integers(1, 40), st.sampled_from([None, 2]), st.booleans())
def test_a_walk_reads_what_is_written(value, chunk, indent, ascii_only):
    data = json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode("utf-8", "ignore")
    value = json.loads(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        assert walked(JsonStream(io.BytesIO(data))) == value
        assert JsonStream(io.BytesIO(data)).value() == value


@given(st.lists(VALUES), st.integers(4, 40))
def test_entries_are_found_again_where_they_were(values, chunk):
    data = b"\xef\xbb\xbf " + json.dumps(values, ensure_ascii=False).encode("utf-8", "ignore")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_stream, "_CHUNK", chunk)
        stream = JsonStream(io.BytesIO(data))
        found = [stream.measured() for _ in stream.elements()]
    assert [json.loads(data[start:stop]) for start, stop, _ in found] == [v for *_, v in found]
    assert len(found) == len(values)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "ends too early"),
        ('{"a": 1', "ends too early"),
        ('{"a" 1}', "':' should|: should"),
        ('{"a": tru}', "is no JSON"),
        ('{"a": "open', "is no JSON"),
        ("[1]", "'\\[' stands where"),
    ],
)
def test_what_is_no_object_is_told(text, problem):
    stream = JsonStream(io.BytesIO(text.encode()))
    with pytest.raises(ValueError, match=problem):
        {key: stream.value() for key in stream.members()}
