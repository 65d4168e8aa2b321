from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.models.call_id import CallId
from tasks_lib.models.ledger import Entry
from tasks_lib.models.ledger.recording import Recording, write_recording
from tests.models.connections.calls import request


def entry(
    question: str,
    body: bytes,
    sample_id: str = "1",
    trial: int = 0,
    ordinal: int = 0,
    **parameters: object,
) -> Entry:
    call = CallId("s", "solver", sample_id, trial, ordinal)
    return Entry(b"k", call, "live", 0.0, 0.1, request(question, **parameters), body)


Opener = Callable[[Path], Recording]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "calls.jsonl"


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens recordings and closes them after the test."""
    recordings: list[Recording] = []

    def open_it(file: Path) -> Recording:
        recordings.append(Recording(file))
        return recordings[-1]

    yield open_it
    for recording in recordings:
        recording.close()


def test_a_line_reads_like_the_call_it_records(file: Path):
    assert write_recording([entry("Zürich?", b'{"choices":[]}', temperature=0)], file) == 1
    assert file.read_text(encoding="utf-8") == (
        '{"sample_id":"1","trial":0,"ordinal":0,"model":"live",'
        '"request":{"messages":[{"role":"user","content":"Zürich?"}],"temperature":0},'
        '"reply":{"choices":[]}}\n'
    )


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"a":[1,2.5,null],"b":"\xc3\xa9"}', id="JSON object"),
        pytest.param(b'{"n":123456789012345678901234567890}', id="integer beyond 64 bits"),
        pytest.param(b'"text that is JSON"', id="JSON that is no object"),
        pytest.param(b"data: plain\n\nlines", id="no JSON"),
    ],
)
def test_a_reply_survives_byte_for_byte(file: Path, opened: Opener, body: bytes):
    write_recording([entry("q", body)], file)
    assert opened(file).reply(request("q"), "1", 0, 0) == body


def test_the_same_call_wins_over_the_same_request(file: Path, opened: Opener):
    rows = [entry("q", b"[1]", "a"), entry("q", b"[2]", "b"), entry("q", b"[3]", "b", trial=1)]
    write_recording(rows, file)
    recording = opened(file)
    assert recording.reply(request("q"), "b", 0, 0) == b"[2]"
    assert recording.reply(request("q"), "b", 1, 0) == b"[3]"


def test_other_samples_take_recordings_of_the_request_in_order(file: Path, opened: Opener):
    write_recording([entry("q", b"[1]", "a"), entry("q", b"[2]", "b")], file)
    recording = opened(file)
    assert recording.reply(request("q"), "other", 0, 0) == b"[1]"
    assert recording.reply(request("q"), "other", 1, 0) == b"[2]"
    assert recording.reply(request("q"), "other", 0, 1) == b"[2]"
    assert recording.reply(request("q"), "other", 2, 0) is None


def test_keys_may_stand_in_any_order_and_the_model_is_no_matter(file: Path, opened: Opener):
    write_recording([entry("q", b"[1]", seed=1, temperature=0)], file)
    body = b'{"temperature":0,"seed":1,"messages":[{"content":"q","role":"user"}],"model":"x"}'
    assert opened(file).reply(body, "1", 0, 0) == b"[1]"


def test_a_file_written_by_hand_needs_only_request_and_reply(file: Path, opened: Opener):
    line = orjson.dumps({"request": orjson.loads(request("q")), "reply": [1]})
    file.write_bytes(b"\n" + line + b"\n\n" + line.replace(b"[1]", b"[2]"))
    recording = opened(file)
    assert recording.reply(request("q"), "9", 0, 0) == b"[1]"
    assert recording.reply(request("q"), "9", 1, 0) == b"[2]"


def test_what_is_missing_is_told_apart(file: Path, opened: Opener):
    write_recording([entry("q", b"[1]", temperature=0)], file)
    recording = opened(file)
    asked_before = request("q", temperature=0)
    assert recording.why_missing(asked_before, 3).endswith(
        "holds 1 reply to this request, trial 3 asks for another"
    )
    assert '{"temperature":0}, this request has {"temperature":1}' in recording.why_missing(
        request("q", temperature=1), 0
    )
    assert "holds no reply" in recording.why_missing(request("other", temperature=0), 0)


def test_an_empty_recording_answers_nothing(file: Path, opened: Opener):
    file.write_bytes(b"")
    recording = opened(file)
    assert recording.reply(request("q"), "1", 0, 0) is None
    assert "holds no reply" in recording.why_missing(request("q"), 0)


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        '{"request":{}}',
        '{"reply":{}}',
        "[1]",
        '{"request":1,"reply":2,"sample_id":1,"trial":"x"}',
    ],
)
def test_a_line_that_is_no_call_is_refused_with_its_place(file: Path, line: str):
    file.write_text('{"request":{},"reply":{}}\n\n' + line + "\n", encoding="utf-8")
    with pytest.raises(DefinitionError, match=r"calls\.jsonl:3: no recorded call"):
        Recording(file)


def test_a_file_that_is_not_there_is_a_definition_error(file: Path):
    with pytest.raises(DefinitionError, match="No such file"):
        Recording(file)


def test_the_digest_changes_with_the_content(file: Path, opened: Opener):
    write_recording([entry("q", b"[1]")], file)
    before = opened(file).digest
    write_recording([entry("q", b"[2]")], file)
    assert opened(file).digest != before


def test_a_failed_write_leaves_the_old_file(file: Path, opened: Opener):
    write_recording([entry("q", b"[1]")], file)

    def broken():
        yield entry("q", b"[2]")
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_recording(broken(), file)
    assert opened(file).reply(request("q"), "1", 0, 0) == b"[1]"
    assert list(file.parent.iterdir()) == [file]
