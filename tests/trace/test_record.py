import copy
import pickle

import pytest

from tasks_lib.trace import Trace
from tasks_lib.trace.content import InputTextContent, OutputTextContent
from tasks_lib.trace.evidence import MetricData, SampleScore
from tasks_lib.trace.items import AssistantMessage, FunctionCall, Message, UserMessage
from tasks_lib.trace.trace import TraceMetadata


def reply(text="x", **extra):
    part = OutputTextContent(text=text, annotations=[])
    return Message(id="", status="completed", role="assistant", content=[part], **extra)


def test_dumps_leave_out_what_was_only_defaulted_at_every_depth():
    assert reply().model_dump() == {
        "id": "",
        "status": "completed",
        "role": "assistant",
        "content": [{"text": "x", "annotations": []}],
    }


def test_the_include_unset_form_writes_everything():
    assert reply().model_dump_include_unset() == {
        "type": "message",
        "id": "",
        "status": "completed",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x", "annotations": [], "logprobs": None}],
    }


def test_json_forms_are_the_dumps_as_text():
    part = InputTextContent(text="\u00e9")
    assert part.model_dump_json() == '{"text":"\u00e9"}'
    assert part.model_dump_json_include_unset() == '{"type":"input_text","text":"\u00e9"}'
    assert part.model_dump_json(indent=1) == '{\n "text": "\\u00e9"\n}'


def test_a_field_that_is_set_or_changed_later_counts_as_set():
    part = OutputTextContent(text="x")
    part.logprobs = None
    part.annotations.append({"type": "text_citation", "content": "c"})
    assert part.model_dump() == {
        "text": "x",
        "annotations": [{"type": "text_citation", "content": "c"}],
        "logprobs": None,
    }
    assert part.model_fields_set == {"text", "annotations", "logprobs"}


def test_a_dump_shares_nothing_with_the_record():
    message = reply()
    message.model_dump_include_unset()["content"][0]["text"] = "changed"
    assert message.text == "x"


def test_dump_options_choose_members():
    metric = MetricData(values={"a": 1}, metric_key="k", metric_type="mean", scorer_key="s")
    dumped = metric.model_dump_include_unset(exclude={"values"}, exclude_none=True, mode="json")
    assert set(dumped) == {"metric_key", "metric_type", "scorer_key", "scorer_purpose"}
    assert metric.model_dump(include={"values"}) == {"values": {"a": 1}}


def test_constructors_of_platform_types_forbid_unknown_names():
    with pytest.raises(ValueError, match="SampleScore: unknown value"):
        SampleScore(values={}, value=1)


def test_constructors_name_what_is_missing():
    with pytest.raises(ValueError, match="FunctionCall: missing call_id, arguments"):
        FunctionCall(id="", name="f", status="completed")


def test_validation_ignores_unknown_keys_of_platform_types():
    score = SampleScore.model_validate({"values": {"a": True}, "later": 1})
    assert score.values == {"a": True}
    assert score.model_dump() == {"values": {"a": True}}


def test_items_and_parts_keep_unknown_keys_as_attributes_and_in_dumps():
    message = reply(session_id="s1")
    message.turn_cost = 0.5
    assert message.session_id == message["session_id"] == "s1"
    assert message.model_dump()["turn_cost"] == 0.5
    assert Message.model_validate(message.model_dump_include_unset()).session_id == "s1"


def test_an_unknown_attribute_of_a_platform_type_can_not_be_set():
    with pytest.raises(AttributeError):
        Trace(items=[]).item = []


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        pytest.param("role", "tool", "is none of user, assistant", id="a choice"),
        pytest.param("id", 3, "Message.id: 3 is not text", id="a text"),
        pytest.param("content", "words", "is not a list", id="a list of parts"),
        pytest.param("type", "msg", "is not 'message'", id="a type tag"),
    ],
)
def test_writing_something_else_is_refused_with_the_place(field, value, problem):
    message = reply()
    with pytest.raises(ValueError, match=problem):
        setattr(message, field, value)
    assert message == reply()


def test_booleans_are_not_numbers():
    with pytest.raises(ValueError, match="True is not an integer or null"):
        TraceMetadata(total_tokens=True)


def test_brackets_and_iteration_work_like_attributes():
    message = reply()
    assert message["role"] == "assistant"
    assert "role" in message
    assert dict(message)["id"] == ""
    with pytest.raises(KeyError):
        message["_data"]
    with pytest.raises(KeyError):
        message["nothing"]


def test_equality_looks_at_the_data_across_a_class_and_its_subclasses():
    typed = AssistantMessage(id="", status="completed", content=reply().content)
    assert typed == reply() == typed
    assert typed != reply("other")
    assert typed != UserMessage(id="", status="completed", content=[])
    assert InputTextContent(text="a") != "a"


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda record: record.model_copy()])
def test_copies_are_independent(clone):
    message = reply()
    other = clone(message)
    other.content[0].text = "changed"
    assert message.text == "x"
    assert other.model_dump()["content"] == [
        {"type": "output_text", "text": "changed", "annotations": [], "logprobs": None}
    ]


def test_copies_can_be_updated():
    assert reply().model_copy(update={"role": "user"}).role == "user"


def test_records_pickle():
    trace = Trace(items=[reply()])
    assert pickle.loads(pickle.dumps(trace)) == trace


def test_repr_names_the_fields():
    assert repr(InputTextContent(text="a")) == "InputTextContent(type='input_text', text='a')"


def test_the_schema_is_checked_when_validating_json_text():
    assert InputTextContent.model_validate_json('{"text":"a"}').text == "a"
    with pytest.raises(ValueError, match=r"InputTextContent\.text: 3 is not text"):
        InputTextContent.model_validate_json('{"text":3}')
