import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.adapters.openai_chat import chat_output
from tasks_lib.models.adapters.openai_responses import responses_output
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.outputs import (
    ModelOutput,
    read_json,
    reject_error,
)
from tasks_lib.models.usage import usage_counts
from tasks_lib.scorers.no_answer import no_answer
from tasks_lib.secrets import remember
from tasks_lib.trace import SolverTrace, Trace, output_items, output_text
from tests.models.wire import chat_json


def refused(read: Any, data: Any) -> CallFailure:
    with pytest.raises(CallFailure) as caught:
        read(data)
    assert caught.value.retryable
    return caught.value


def looked_at(output: ModelOutput) -> tuple[str | None, str | None]:
    """The text that scorers see, and why there is none."""
    return output_text(output.raw), no_answer(SolverTrace(Trace.from_items([]), [output.raw]))


# null content


@pytest.mark.parametrize(
    ("reply", "text", "reason"),
    [
        pytest.param(chat_json("Paris"), "Paris", None, id="an answer"),
        pytest.param(chat_json(""), "", "empty", id="BR-031: an empty reply"),
        pytest.param(chat_json("  \n"), "  \n", "empty", id="BR-031: white space"),
        pytest.param(
            chat_json(None, refusal="I can't help with that."),
            "",
            "refusal",
            id="BR-031: a refusal",
        ),
        pytest.param(
            chat_json(None, "length", reasoning_content="Let me think about 2+2 ..."),
            "",
            "truncated",
            id="BR-015: all tokens spent on thinking",
        ),
        pytest.param(
            chat_json(None, reasoning_content="So the answer is B"),
            "",
            "reasoning_only",
            id="BR-016: the answer among the thoughts",
        ),
        pytest.param(
            chat_json(None, reasoning="So the answer is B"),
            "",
            "reasoning_only",
            id="its other name",
        ),
        pytest.param(chat_json(None, "length"), "", "truncated", id="cut before the first word"),
        pytest.param(chat_json(None, "content_filter"), "", "refusal", id="filtered"),
    ],
)
def test_a_reply_without_text_says_why(reply: dict[str, Any], text: str, reason: str | None):
    output = chat_output(reply)
    assert looked_at(output) == (text, reason)
    assert output.finish_reason == reply["choices"][0]["finish_reason"]


def test_reasoning_and_refusals_are_kept_in_fields_of_their_own():
    """BR-016, BR-031."""
    said = chat_output(chat_json(None, refusal="no", reasoning="hm")).raw["choices"][0]["message"]
    assert said == {"role": "assistant", "content": "", "refusal": "no", "reasoning_content": "hm"}


@pytest.mark.parametrize("finish", ["stop", None])
def test_a_reply_with_nothing_at_all_is_malformed(finish: str | None):
    failure = refused(chat_output, chat_json(None, finish))
    assert (failure.error_class, failure.problem) == ("model", "the reply is empty")


# parts of a chat completion


def test_content_in_parts_is_one_text():
    parts = [{"type": "text", "text": "Par"}, {"type": "thinking"}, {"type": "text", "text": "is"}]
    assert looked_at(chat_output(chat_json(parts))) == ("Paris", None)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ([], "the reply has no choices"),
        ("OK", "the reply has no choices"),
        ({}, "the reply has no choices"),
        ({"choices": []}, "the reply has no choices"),
        ({"choices": {}}, "the reply has no choices"),
        ({"choices": [None]}, "the reply's choice has no message"),
        ({"choices": [{"text": "OK"}]}, "the reply's choice has no message"),
        (chat_json({"a": 1}), "the reply's content is no text: \"{'a': 1}\""),
        (chat_json(42), "the reply's content is no text: '42'"),
        (chat_json(None, tool_calls="x"), "the reply's tool calls are no list"),
        (chat_json(None, tool_calls=[None]), "the reply has a tool call without a function"),
        (
            chat_json(None, tool_calls=[{"function": {}}]),
            "the reply has a tool call without a function",
        ),
    ],
)
def test_a_malformed_completion_is_no_answer(data: Any, problem: str):
    failure = refused(chat_output, data)
    assert (failure.error_class, failure.problem) == ("model", problem)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"error": {"message": "overloaded", "code": 529}}, "overloaded"),
        ({"error": {"code": 529}}, "{'code': 529}"),
        ({"error": "overloaded"}, "overloaded"),
        ({"choices": [{"error": {"message": "upstream"}, "finish_reason": "error"}]}, "upstream"),
    ],
)
def test_an_error_with_status_200_is_an_error(data: Any, words: str):
    failure = refused(chat_output, data)
    assert (failure.error_class, failure.problem) == ("infra", f"the reply holds an error: {words}")


@pytest.mark.parametrize(
    "data", [{"error": None}, {"error": ""}, {"error": 0.25}, {"error": [1]}, []]
)
def test_what_is_only_called_error_is_none(data: Any):
    reject_error(data)


def test_no_error_shows_a_secret():
    remember("sk-very-secret")
    assert "secret" not in refused(reject_error, {"error": "x" * 280 + "sk-very-secret"}).problem
    assert "secret" not in refused(read_json, b"<p>" + b"x" * 30 + b"sk-very-secret").problem


def test_tool_calls_make_items_with_what_is_said_beside_them():
    calls = [
        {"id": "c1", "type": "function", "function": {"name": "a", "arguments": '{"x":1}'}},
        {"function": {"name": "b", "arguments": {"x": 2}}},
        {"id": "c3", "function": {"name": "c", "arguments": None}},
    ]
    reply = chat_json("Let me look.", "tool_calls", tool_calls=calls, reasoning_content="hm")
    output = chat_output(reply)
    items = output.raw["items"]
    assert [item["type"] for item in items] == ["message", "message", *["function_call"] * 3]
    assert items[0]["content"] == [{"type": "reasoning_text", "text": "hm"}]
    assert output_text(output.raw) == "Let me look."
    assert [(i["call_id"], i["name"], i["arguments"]) for i in items[2:]] == [
        ("c1", "a", '{"x":1}'),
        ("", "b", '{"x":2}'),
        ("c3", "c", "{}"),
    ]
    assert output.finish_reason == "tool_calls"
    assert looked_at(chat_output(chat_json(None, "tool_calls", tool_calls=calls)))[1] is None
    assert len(output_items(output.raw)) == 5


def test_all_choices_and_their_references_are_kept():
    choice = {"message": {"content": "a"}, "references": [{"content": "source"}]}
    output = chat_output({"choices": [choice, *chat_json("b", "length")["choices"]]})
    assert [c["message"]["content"] for c in output.raw["choices"]] == ["a", "b"]
    assert output.raw["choices"][0]["references"] == [{"content": "source"}]
    assert output.finish_reason is None


@pytest.mark.parametrize("finish", [1, {}, ["stop"], True])
def test_a_finish_reason_that_is_no_text_is_none(finish: Any):
    assert chat_output(chat_json("OK", finish)).finish_reason is None


def test_a_finish_reason_can_be_stored():
    assert chat_output(chat_json("OK", "st\ud800p")).finish_reason == "st\ufffdp"


# usage


@pytest.mark.parametrize(
    ("usage", "counts"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 5}, (3, 5)),
        ({"input_tokens": 3, "output_tokens": 5}, (3, 5)),
        ({"num_prompt_tokens": 3, "num_completion_tokens": 5}, (3, 5)),
        ({"prompt_tokens": None, "input_tokens": 3}, (3, 0)),
        ({"prompt_tokens": 3.0}, (3, 0)),
        ({"prompt_tokens": "3", "completion_tokens": {}}, (0, 0)),
        ({"prompt_tokens": -3, "completion_tokens": 10**30}, (0, 0)),
        ({"prompt_tokens": float("nan")}, (0, 0)),
        (None, (0, 0)),
        ([], (0, 0)),
        ("lots", (0, 0)),
    ],
)
def test_tokens_are_counted_where_they_are_numbers(usage: Any, counts: tuple[int, int]):
    output = chat_output({**chat_json("OK"), "usage": usage})
    assert (output.input_tokens, output.output_tokens) == counts
    assert usage_counts({"usage": usage})[:2] == counts


def test_reasoning_tokens_are_kept():
    """BR-015."""
    usage = {"completion_tokens": 512, "completion_tokens_details": {"reasoning_tokens": 512}}
    assert chat_output({**chat_json("OK"), "usage": usage}).raw["usage"] == {
        "num_prompt_tokens": None,
        "num_completion_tokens": 512,
        "num_reasoning_tokens": 512,
    }


# Responses


def message(text: str, **fields: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "role": "assistant", "content": [part], **fields}


def test_reasoning_becomes_a_message_before_the_answer_and_other_kinds_are_dropped():
    reply = {
        "status": "completed",
        "output": [
            {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
            {"type": "reasoning", "summary": [], "encrypted_content": "x"},
            {"type": "web_search_call", "id": "w"},
            message("Paris", id="m"),
            None,
        ],
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    output = responses_output(reply)
    assert [item["id"] for item in output.raw["items"]] == ["r", "m"]
    assert looked_at(output) == ("Paris", None)
    assert (output.finish_reason, output.input_tokens, output.output_tokens) == ("stop", 3, 5)


@pytest.mark.parametrize(
    ("reply", "finish"),
    [
        ({"status": "completed"}, "stop"),
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}, "length"),
        (
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
            "content_filter",
        ),
        ({"status": "incomplete", "incomplete_details": "?"}, None),
        ({}, None),
    ],
)
def test_the_finish_reason_has_the_words_of_chat_completions(
    reply: dict[str, Any], finish: str | None
):
    assert responses_output({**reply, "output": [message("x")]}).finish_reason == finish


def test_function_calls_are_kept_as_items():
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = responses_output({"status": "completed", "output": [call]})
    assert output.finish_reason == "tool_calls"
    assert [item["name"] for item in output_items(output.raw)] == ["f"]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ({"output": []}, "the reply has no output"),
        ({"output": None}, "the reply has no output"),
        ([], "the reply has no output"),
        ({"status": "failed", "error": {"message": "boom"}}, "the reply holds an error: boom"),
    ],
)
def test_a_response_without_output_is_malformed(data: Any, problem: str):
    assert refused(responses_output, data).problem == problem


# any reply


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"<html><body>Bad gateway</body></html>", id="HTML"),
        pytest.param(b'{"choices": [', id="cut off"),
        pytest.param(b"", id="nothing"),
        pytest.param(b"\xff\xfe", id="no UTF-8"),
        pytest.param(b"[" * 100_000, id="nested without end"),
        pytest.param(b'data: {"choices": []}\n\ndata: [DONE]', id="a stream"),
    ],
)
def test_a_body_that_is_no_json_can_be_asked_for_again(body: bytes):
    failure = refused(read_json, body)
    assert failure.error_class == "model"
    assert failure.problem.startswith("the reply is no JSON: ")
    assert len(failure.problem) < 200


def test_a_body_that_is_json_is_read_exactly():
    body = '\ufeff{"n": 123456789012345678901234567890, "t": "\\ud800\\u0000"}'.encode()
    assert read_json(body) == {"n": 123456789012345678901234567890, "t": "\ud800\0"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def loosely(known: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Any]:
    """Objects of the known members, each of which may be anything or missing."""
    members = {name: st.one_of(value, value, value, JSON) for name, value in known.items()}
    shaped = st.fixed_dictionaries({}, optional=members)
    return st.one_of(shaped, shaped, shaped, JSON)


CALL = loosely({"id": st.text(), "function": loosely({"name": st.text(), "arguments": JSON})})
MESSAGE = loosely(
    {"content": st.text(), "tool_calls": st.lists(CALL, max_size=2), "refusal": st.text()}
)
CHAT = loosely(
    {
        "choices": st.lists(loosely({"message": MESSAGE, "finish_reason": st.text()}), max_size=2),
        "usage": loosely({"prompt_tokens": st.integers(), "completion_tokens_details": JSON}),
    }
)
ITEM = loosely(
    {
        "type": st.sampled_from(["message", "function_call", "reasoning"]),
        "content": st.lists(loosely({"type": st.just("output_text"), "text": st.text()})),
        "summary": st.lists(loosely({"text": st.text()})),
        "arguments": JSON,
    }
)
RESPONSE = loosely(
    {"output": st.lists(ITEM, max_size=3), "incomplete_details": JSON, "usage": JSON}
)


@given(CHAT)
def test_any_chat_reply_is_an_output_or_a_failure(data: Any):
    holds(chat_output, data)


@given(RESPONSE)
def test_any_response_is_an_output_or_a_failure(data: Any):
    holds(responses_output, data)


def holds(read: Any, data: Any) -> None:
    try:
        output = read(data)
    except CallFailure:
        return
    assert output.input_tokens >= 0
    assert isinstance(output.finish_reason, str | None)
    output_items(output.raw)
    output_text(output.raw)
    json.dumps(output.raw)
