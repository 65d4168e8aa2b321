import pytest

from tasks_lib.scorers.no_answer import marked, no_answer
from tasks_lib.scorers.score import Score
from tests.items import call
from tests.scorers.rows import chat, items, solved

TEXT = {"type": "output_text", "text": "Paris", "annotations": []}
BLANK = {"type": "output_text", "text": " \n", "annotations": []}
THOUGHT = {"type": "reasoning_text", "text": "Let me think."}


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (chat("Lyon"), None),
        (chat(""), "empty"),
        (chat("  \n"), "empty"),
        (chat(None), "empty"),
        (chat(None, refusal="I can't help with that."), "refusal"),
        (chat("Lyon", refusal=None), None),
        (chat("", finish_reason="content_filter"), "refusal"),
        (chat("", finish_reason="length"), "truncated"),
        (chat("Par", finish_reason="length"), None),
        (chat("", reasoning_content="Let me think."), "reasoning_only"),
        (chat("", reasoning="Let me think."), "reasoning_only"),
        (chat("", finish_reason="length", reasoning_content="Let me"), "truncated"),
        (chat(None, tool_calls=[{"id": "1"}]), None),
        (chat([{"type": "text", "text": "Paris"}]), None),
        (chat([{"type": "text", "text": " "}]), "empty"),
        (items(TEXT), None),
        (items(BLANK), "empty"),
        (items(), "empty"),
        ({"items": []}, "empty"),
        (items({"type": "refusal", "refusal": "No."}), "refusal"),
        (items(status="incomplete"), "truncated"),
        (items(THOUGHT), "reasoning_only"),
        (items(THOUGHT, TEXT), None),
        ({"items": [{"role": "assistant", "content": "Paris"}]}, None),
        ({"items": [{"type": "reasoning", "content": []}]}, "reasoning_only"),
        ({"items": [call()]}, None),
        ({"verdict": 1}, None),
        ("", None),
        ({"choices": []}, None),
        ({"embeddings": [[0.1]]}, None),
    ],
)
def test_br_031_why_there_is_no_answer(output, reason):
    assert no_answer(solved(output)) == reason


@pytest.mark.parametrize("output", [None, solved(), solved(said="")])
def test_nothing_is_said_where_there_is_no_raw_output(output):
    assert no_answer(output) is None


def test_the_mark_joins_the_metadata_and_yields_to_the_authors():
    empty = solved(chat(""))
    assert marked(Score({"x": 1}), empty).metadata == {"no_answer": "empty"}
    assert marked(Score({"x": 1}, {"a": 1}), empty).metadata == {"no_answer": "empty", "a": 1}
    own = Score({"x": 1}, {"no_answer": "mine"})
    assert marked(own, empty).metadata == {"no_answer": "mine"}
    assert marked(own, solved(chat("Paris"))) is own
