"""Conversations as people read them in a terminal."""

import json

import pytest

from tasks_lib.report.trace_text import trace_lines
from tasks_lib.trace import message_item

LONG = {"places": [f"place {number}" for number in range(12)]}


def call(call_id: str, name: str, arguments: object) -> dict:
    return {
        "type": "function_call", "id": "", "call_id": call_id, "name": name,
        "arguments": json.dumps(arguments), "status": "completed",
    }  # fmt: skip


def output(call_id: str, text: object) -> dict:
    return {
        "type": "function_call_output", "id": "", "call_id": call_id, "output": text,
        "status": "completed",
    }  # fmt: skip


def test_calls_and_what_answers_them():
    items = [
        message_item("user", "Warm?\nWhere?"),
        call("1", "temperature", {"city": "Seoul"}),
        call("2", "sky", {"city": "Seoul"}),
        output("2", "clear"),
        output("1", '{"celsius": 11}'),
        output("9", "nobody asked"),
        message_item("assistant", "11 °C, clear"),
    ]
    assert list(trace_lines({"items": items})) == [
        "user: Warm?",
        "    Where?",
        'call: temperature({"city": "Seoul"})',
        'call: sky({"city": "Seoul"})',
        "output of sky: clear",
        'output of temperature: {"celsius": 11}',
        "output: nobody asked",
        "assistant: 11 °C, clear",
    ]


def test_long_json_takes_several_lines():
    lines = list(trace_lines({"items": [call("1", "f", LONG), output("1", json.dumps(LONG))]}))
    assert lines[0] == "call: f({"
    assert '        "place 3",' in lines
    assert "output of f: {" in lines
    assert max(map(len, lines)) < 60


@pytest.mark.parametrize(
    ("item", "line"),
    [
        pytest.param(
            {
                **message_item("assistant", ""),
                "content": [{"type": "reasoning_text", "text": "hm"}],
            },
            "assistant: (reasoning_text) hm",
            id="a thought",
        ),
        pytest.param(
            {**message_item("assistant", ""), "content": [{"type": "refusal", "refusal": "no"}]},
            "assistant: (refusal) no",
            id="a refusal",
        ),
        pytest.param(
            {"type": "custom_task_output_message", "content": {"a": 1}}, 'output: {"a":1}',
            id="custom output",
        ),
        pytest.param(message_item("user", "\x1b[2Jb"), "user: \\x1b[2Jb", id="control characters"),
        pytest.param(call("1", "f\n\x1b", {}), "call: f", id="a name with a line break"),
    ],
)  # fmt: skip
def test_other_things_said(item, line):
    assert next(trace_lines({"items": [item]})) == line


def test_why_a_conversation_ended():
    trace = {"items": [], "metadata": {"extra": {"ended_by": "model 'user' said nothing"}}}
    assert list(trace_lines(trace)) == ["ended: model 'user' said nothing"]
