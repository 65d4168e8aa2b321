import asyncio
import time
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks_lib.models.adapters import BUILT_IN
from tasks_lib.models.connections.base import CallFailure, Client, ModelInfo
from tasks_lib.models.connections.mock import MockConnection
from tests.models.connections.calls import call_id, client_of, request, said, send


def mock(*rules: dict[str, Any], default: str | None = None) -> Client:
    return client_of(
        MockConnection.model_validate(
            {"connection_type": "mock", "rules": rules, "default": default}
        )
    )


@pytest.mark.parametrize(
    ("rule", "text", "matches"),
    [
        pytest.param({"contains": "France"}, "capital of France?", True, id="text it holds"),
        pytest.param({"contains": "france"}, "capital of France?", False, id="case counts"),
        pytest.param({"matches": "(?i)france"}, "capital of France?", True, id="expression found"),
        pytest.param(
            {"matches": "^France"}, "capital of France?", False, id="expression not found"
        ),
        pytest.param({"sample_id": "1"}, "anything", True, id="the call's sample"),
        pytest.param({"sample_id": "2"}, "anything", False, id="another sample"),
        pytest.param(
            {"contains": "F", "sample_id": "2"}, "F", False, id="all conditions must hold"
        ),
        pytest.param({}, "anything", True, id="no condition matches all"),
    ],
)
def test_a_rule_answers_what_it_matches(rule: dict[str, Any], text: str, matches: bool):
    client = mock({**rule, "reply": "yes"}, default="no")
    assert said(client, text) == ("yes" if matches else "no")


def test_the_first_matching_rule_answers():
    client = mock({"contains": "a", "reply": "first"}, {"contains": "b", "reply": "second"})
    assert said(client, "ab") == "first"
    assert said(client, "b") == "second"


def test_only_the_last_user_message_is_matched():
    client = mock({"contains": "Paris", "reply": "yes"}, default="no")
    messages = [
        {"role": "user", "content": "Paris?"},
        {"role": "assistant", "content": "Paris!"},
        {"role": "user", "content": [{"type": "text", "text": "Rome?"}]},
    ]
    reply = send(client, orjson.dumps({"messages": messages}))
    assert reply["choices"][0]["message"]["content"] == "no"


def test_anywhere_looks_at_what_everybody_said():
    client = mock({"anywhere": "Paris!", "reply": "<done>"}, default="go on")
    said_by_all = [
        {"role": "user", "content": "Capital?"},
        {"role": "assistant", "content": "Paris!"},
        {"role": "user", "content": "If there is an answer, say <done>."},
    ]
    for count, expected in [(1, "go on"), (3, "<done>")]:
        reply = send(client, orjson.dumps({"messages": said_by_all[:count]}))
        assert reply["choices"][0]["message"]["content"] == expected


def test_a_request_that_is_no_chat_is_matched_as_text():
    client = mock({"contains": '"query":"x"', "reply": "yes"})
    assert send(client, b'{"query":"x"}')["choices"][0]["message"]["content"] == "yes"
    assert send(mock(default="any"), b"\xff no json")["usage"]["prompt_tokens"] == 3


def test_no_matching_rule_is_a_data_error_that_names_the_model():
    with pytest.raises(CallFailure, match="no rule of mock model 'scripted'") as failure:
        said(mock({"contains": "x", "reply": "y"}), "z")
    assert failure.value.error_class == "data"
    assert not failure.value.retryable


def test_replies_take_turns_over_trials_and_equal_calls():
    client = mock({"replies": ["a", "b", "c"]})
    assert [said(client, "?", call_id(trial=trial)) for trial in range(4)] == list("abca")
    assert [said(client, "?", call_id(ordinal=ordinal)) for ordinal in (2, 0)] == ["c", "a"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (r"you said \1", "you said red"),
        (r"\g<object> is \1", "car is red"),
        (r"\0!", "red car!"),
        (r"a \n stays, \d and \\ too", r"a \n stays, \d and \\ too"),
    ],
)
def test_a_reply_echoes_groups_and_is_else_literal(reply: str, expected: str):
    client = mock({"matches": r"(\w+) (?P<object>car)", "reply": reply})
    assert said(client, "a red car") == expected


def test_what_is_echoed_is_not_expanded_again():
    assert said(mock({"matches": "(.*)", "reply": r"<\1>"}), r"\0\1\g<x>") == r"<\0\1\g<x>>"


@given(st.text(), st.text())
def test_any_text_comes_back_as_it_is(question: str, answer: str):
    assert said(mock({"reply": answer}), question) == answer


def test_tokens_are_a_quarter_of_the_characters_rounded_up():
    usage = send(mock(default="12345"), request("1234"))["usage"]
    assert usage == {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def test_tool_calls_and_refusals_have_the_form_of_the_api():
    call = {"name": "weather", "arguments": {"city": "Zürich"}}
    choice = send(mock({"tool_calls": [call]}), request("?"))["choices"][0]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    function = choice["message"]["tool_calls"][0]["function"]
    assert function["name"] == "weather"
    assert orjson.loads(function["arguments"]) == {"city": "Zürich"}

    choice = send(mock({"refusal": "I can't."}), request("?"))["choices"][0]
    assert choice["message"] == {"role": "assistant", "refusal": "I can't.", "content": None}

    cut = send(mock({"reply": "Par", "finish_reason": "length"}), request("?"))["choices"][0]
    assert cut["finish_reason"] == "length"


def test_the_chat_adapter_reads_its_replies():
    body = asyncio.run(mock(default="Paris").send(request("?"), call_id()))
    adapter = BUILT_IN["latticeflow$openai_chat_completion"]
    output = adapter.reply(body, ModelInfo(key="m", model_key=""))
    assert output.raw["choices"][0]["message"]["content"] == "Paris"
    assert (output.finish_reason, output.output_tokens) == ("stop", 2)


@pytest.mark.parametrize(
    ("status", "error_class", "retryable"),
    [(429, "infra", True), (503, "infra", True), (400, "model", False), (401, "infra", False)],
)
def test_errors_behave_as_those_of_an_endpoint(status: int, error_class: str, retryable: bool):
    client = mock({"error": {"status": status, "message": "no", "retry_after": 2}})
    with pytest.raises(CallFailure, match=f"HTTP {status}: no") as failure:
        said(client, "?")
    assert failure.value.error_class == error_class
    assert failure.value.retryable is retryable
    assert failure.value.retry_after == (2.0 if retryable else None)


def test_an_error_can_pass_after_some_attempts_of_each_call():
    client = mock({"reply": "ok", "error": {"status": 500, "times": 2}})
    for call in (call_id("1"), call_id("2")):
        for _ in range(2):
            with pytest.raises(CallFailure):
                said(client, "?", call)
        assert said(client, "?", call) == "ok"


def test_latency_is_waited_for():
    client = mock({"reply": "ok", "latency_s": 0.05})
    start = time.perf_counter()
    said(client, "?")
    assert time.perf_counter() - start >= 0.05


@pytest.mark.parametrize(
    ("rule", "complaint"),
    [
        pytest.param({"contains": "x"}, "says nothing to answer", id="no answer"),
        pytest.param({"reply": "a", "replies": ["b"]}, "either 'reply' or 'replies'", id="both"),
        pytest.param({"replies": []}, "at least 1", id="no replies"),
        pytest.param({"matches": "(", "reply": "a"}, "no regular expression", id="bad expression"),
        pytest.param({"matches": "a", "reply": r"\1"}, "has 0 groups", id="no such group"),
        pytest.param({"matches": "a", "reply": r"\g<n>"}, "no group of that name", id="no name"),
        pytest.param({"error": {"status": 200}}, "greater than or equal to 400", id="no error"),
        pytest.param({"error": {"status": 500, "times": 1}}, "nothing to answer", id="then what"),
        pytest.param({"reply": "a", "regex": "b"}, "Extra inputs", id="unknown key"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: dict[str, Any], complaint: str):
    with pytest.raises(ValidationError, match=complaint):
        MockConnection.model_validate({"connection_type": "mock", "rules": [rule]})


def test_other_rules_are_another_endpoint():
    assert mock(default="a").endpoint == mock(default="a").endpoint
    assert mock(default="a").endpoint != mock(default="b").endpoint
