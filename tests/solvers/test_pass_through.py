"""Recorded conversations that stand for the answer."""

import json

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.scorers.answers import answer_text
from tasks_lib.trace import SolverTrace, message_item
from tests.items import answer, call
from tests.solvers.scripted import solve, solver

DEFINITION = {"type": "pass_through_solver", "trace_column": "trace"}

CALL = call("get_current_weather", {"city": "Seoul"})
ANSWER = answer('{"temperature": 11}')
SYSTEM = message_item("system", "One word.")
QUESTION = message_item("user", "What is the capital city of Japan?")
TOKYO = message_item("assistant", "Tokyo")


def replay(**columns) -> SolverTrace:
    return solver(DEFINITION).replay(Sample("s", 0, columns))


@pytest.mark.parametrize("form", [lambda items: {"items": items}, lambda items: items])
@pytest.mark.parametrize("write", [lambda value: value, json.dumps])
def test_all_items_are_replayed_unchanged(form, write):
    items = [SYSTEM, QUESTION, CALL, ANSWER, TOKYO]
    output = replay(trace=write(form(items)))
    assert output.trace.raw_items == items


@pytest.mark.parametrize(
    ("items", "answer"),
    [
        pytest.param([SYSTEM, QUESTION, TOKYO], [TOKYO], id="the last assistant message"),
        pytest.param([QUESTION, CALL, ANSWER, TOKYO], [CALL, ANSWER, TOKYO], id="with its calls"),
        pytest.param(
            [QUESTION, message_item("assistant", "Kyoto"), QUESTION, TOKYO], [TOKYO],
            id="the last turn alone",
        ),
        pytest.param(
            [QUESTION, SYSTEM, message_item("developer", "x"), TOKYO], [TOKYO],
            id="instructions are not the assistant's",
        ),
        pytest.param([QUESTION, message_item("assistant", "")], None, id="an empty message is one"),
    ],
)  # fmt: skip
def test_the_assistants_side_of_the_last_turn_is_the_output(items, answer):
    output = replay(trace=items)
    assert output.raw_outputs_json == [{"items": items[1:] if answer is None else answer}]
    assert output.output.choices[0].message.content == output.trace.get_last_assistant_text()
    assert answer_text(output) == output.trace.get_last_assistant_text()


@pytest.mark.parametrize(
    "items",
    [
        pytest.param([], id="nothing"),
        pytest.param([QUESTION], id="no reply"),
        pytest.param([QUESTION, CALL], id="a call without a word"),
        pytest.param([QUESTION, TOKYO, QUESTION], id="a last turn without a reply"),
        pytest.param([SYSTEM, TOKYO], id="no turn"),
        pytest.param([{"type": "custom_task_output_message", "content": 1}], id="no chat"),
    ],
)
def test_without_words_of_the_assistant_there_is_no_output(items):
    output = replay(trace=items)
    assert output.raw_outputs_json == []
    assert output.output is None


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        ({}, "no column 'trace'"),
        ({"trace": None}, "holds no trace"),
        ({"trace": "Tokyo"}, "holds no trace"),
        ({"trace": 7}, "holds no trace"),
        ({"trace": {"messages": []}}, "holds no trace"),
    ],
)
def test_anything_else_is_an_error_of_the_sample(columns, problem):
    with pytest.raises(SampleError, match=problem) as error:
        replay(**columns)
    assert error.value.error_class == "data"


def test_no_model_is_needed():
    made = solver(DEFINITION)
    assert not made.calls_models
    assert not made.asks_evaluated_model
    assert made.calls("tested") == {}
    assert made.message_format == "open_responses"


def test_it_solves_as_it_replays():
    items = [QUESTION, TOKYO]
    assert solve(DEFINITION, trace=items).trace.raw_items == items


def test_what_may_not_be_written():
    with pytest.raises(ValidationError, match="trace_column"):
        solver({"type": "pass_through_solver"})
    with pytest.raises(ValidationError, match="message_format"):
        solver({**DEFINITION, "message_format": "chat"})
