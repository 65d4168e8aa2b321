import json

import pytest

from tasks_lib.trace import ModelResponse, SolverTrace, Trace, message_item
from tasks_lib.trace.content import OutputTextContent
from tasks_lib.trace.items import Message, MessageRole, MessageStatus
from tasks_lib.trace.legacy import to_legacy
from tasks_lib.trace.outputs import (
    ChatCompletionInputMessage,
    ChatCompletionModelOutput,
    ChatCompletionModelOutputChoice,
    ChatCompletionOutputMessage,
    OpenResponsesModelOutput,
)

CHAT = {"choices": [{"message": {"role": "assistant", "content": "raw answer"}}]}
EXCHANGE = {
    "direct_input": {"body": "{}"},
    "direct_output": {"body": "{}", "status_code": 200, "headers": {"a": "b"}},
}


def solved():
    trace = SolverTrace(Trace.from_items([]))
    trace.append_system_message("s")
    trace.append_user_message("u")
    trace.add_model_response(
        ModelResponse(raw_output=CHAT, items=[message_item("assistant", "answer")])
    )
    return trace


def test_helpers_append_one_item_each():
    trace = solved()
    assert trace.trace.raw_items == [
        message_item("system", "s"),
        message_item("user", "u"),
        message_item("assistant", "answer"),
    ]
    assert trace.raw_outputs_json == [CHAT]
    trace.append_custom_task_input_message({"x": 1})
    trace.append({"role": "user", "content": "more"})
    trace.extend([message_item("assistant", "b"), message_item("user", "c")])
    assert [item.type for item in trace.items[3:]] == ["custom_task_input_message"] + 3 * [
        "message"
    ]
    with pytest.raises(ValueError, match="'sound'"):
        trace.extend([message_item("user", "d"), {"type": "sound"}])
    assert len(trace.trace.raw_items) == 7


def test_messages_and_output_are_the_chat_view():
    trace = solved()
    assert [type(message) for message in trace.messages] == [
        ChatCompletionInputMessage,
        ChatCompletionInputMessage,
        ChatCompletionOutputMessage,
    ]
    assert trace.messages[-1]["content"] == "answer"
    assert trace.output.choices[0].message.content == "raw answer"


def test_without_outputs_there_is_no_output():
    assert SolverTrace(Trace.from_items([])).output is None


def test_an_open_responses_output_is_presented_as_a_chat_completion():
    items = [message_item("assistant", "a"), message_item("assistant", "b")]
    trace = SolverTrace(Trace.from_items([]), raw_outputs=[{"items": items, "usage": None}])
    assert isinstance(trace.raw_outputs[0], OpenResponsesModelOutput)
    assert isinstance(trace.output, ChatCompletionModelOutput)
    assert [choice.message.content for choice in trace.output.choices] == ["b"]
    brief = SolverTrace(
        Trace.from_items([]), raw_outputs=[{"items": [{"role": "assistant", "content": "c"}]}]
    )
    assert brief.output.choices[0].message.content == "c"
    silent = SolverTrace(Trace.from_items([]), raw_outputs=[{"items": []}])
    assert silent.output.choices == []


def test_a_custom_output_is_itself():
    trace = SolverTrace(Trace.from_items([]), raw_outputs=[CHAT, {"label": "cat"}])
    assert trace.output == {"label": "cat"}
    assert trace.raw_outputs[1] == {"label": "cat"}


def test_typed_outputs_and_exchanges_are_kept_as_json():
    choice = ChatCompletionModelOutputChoice(message=ChatCompletionOutputMessage(content="a"))
    trace = SolverTrace(
        trace=Trace(items=[]),
        raw_outputs=[ChatCompletionModelOutput(choices=[choice])],
        direct_ios=[EXCHANGE],
    )
    assert trace.raw_outputs_json[0]["choices"][0]["message"]["content"] == "a"
    assert trace.direct_ios[0].direct_output.status_code == 200
    trace.raw_outputs.append({"x": 1})
    assert trace.raw_outputs_json[1] == {"x": 1}


def test_a_postprocessor_builds_traces_and_hands_exchanges_on():
    source = SolverTrace(Trace.from_items([]), [], [EXCHANGE])
    derived = SolverTrace(trace=Trace.from_items([]), raw_outputs=[])
    derived.append_user_message("q")
    reply = Message(
        id="",
        status=MessageStatus.completed,
        role=MessageRole.assistant,
        content=[OutputTextContent(text="a", annotations=[])],
    )
    derived.add_model_response(ModelResponse(raw_output=CHAT, items=[reply]))
    derived.direct_ios = source.direct_ios
    assert derived.trace.get_last_assistant_text() == "a"
    assert derived.direct_ios == source.direct_ios
    derived.direct_ios.clear()
    assert len(source.direct_ios) == 1


def test_traces_do_not_share_their_messages():
    """BR-066: changing a message of one conversation leaves the others alone."""
    value = [message_item("user", "a1")]
    one, two = Trace.load(value), Trace.load(value)
    one.items[0].content[0].text += " [edited]"
    assert two.get_last_user_text() == value[0]["content"][0]["text"] == "a1"


def test_dumps_hold_the_whole_output():
    dumped = solved().model_dump_include_unset()
    assert list(dumped) == ["trace", "raw_outputs", "direct_ios"]
    assert dumped["trace"]["metadata"] is None
    assert json.loads(json.dumps(dumped)) == dumped
    again = SolverTrace.model_validate({**dumped, "later": 1})
    assert again.trace.raw_items == solved().trace.raw_items
    assert again.output.choices[0].message.content == "raw answer"


def test_the_legacy_form_is_a_chat_with_the_last_output():
    legacy = to_legacy(solved())
    assert [(message.role, message.content) for message in legacy.messages] == [
        ("system", "s"),
        ("user", "u"),
        ("assistant", "answer"),
    ]
    assert legacy.output.choices[0].message.content == "raw answer"
    assert legacy.direct_ios == []


def test_the_legacy_form_of_a_custom_model_keeps_its_messages():
    trace = SolverTrace(Trace.from_items([]), raw_outputs=[[1]])
    trace.append_custom_task_input_message("in")
    trace.append({"type": "custom_task_output_message", "content": [1]})
    legacy = to_legacy(trace)
    assert [message.content for message in legacy.messages] == ["in", [1]]
    assert legacy.output == [1]
