from datetime import UTC, datetime

import pytest

from tasks_lib.trace import Trace, message_item
from tasks_lib.trace.events import (
    CompactionEvent,
    CustomEvent,
    ErrorEvent,
    FunctionCallEvent,
    MessageEvent,
    ModelCallEvent,
    SpanBeginEvent,
    SpanEndEvent,
)
from tasks_lib.trace.outputs import ModelUsage


def said(role, text, span_id=None):
    return MessageEvent(item=message_item(role, text), span_id=span_id)


def called(function, span_id=None, **fields):
    return FunctionCallEvent(call_id=function, function=function, span_id=span_id, **fields)


def model_call(context, output, span_id=None):
    return ModelCallEvent(input_context=context, output_items=output, span_id=span_id)


def summary(trace):
    return [
        item.text if item.type == "message" else getattr(item, "name", item.type)
        for item in trace.items
    ]


SPANS = [
    said("user", "root question"),
    SpanBeginEvent(span_id="a", name="research", span_type="agent"),
    said("user", "child question", "a"),
    SpanBeginEvent(span_id="b", parent_span_id="a", name="deeper"),
    said("user", "grandchild question", "b"),
    SpanEndEvent(span_id="b"),
    said("assistant", "child answer", "a"),
    SpanEndEvent(span_id="a"),
    called("tool", arguments={"x": 1}, result="r"),
    said("assistant", "root answer"),
]


def test_items_come_from_the_span_s_own_messages_and_calls():
    trace = Trace.from_events(SPANS)
    assert summary(trace) == [
        "root question",
        "tool",
        "function_call_output",
        "root answer",
    ]
    assert trace.function_calls[0].arguments == '{"x":1}'
    assert trace.function_outputs[0].output == "r"
    assert summary(Trace.from_events(SPANS, span_id="a")) == ["child question", "child answer"]


def test_spans_are_the_direct_children_each_with_its_own():
    (child,) = Trace.from_events(SPANS).spans()
    assert (child.span_id, child.span_name, child.span_type) == ("a", "research", "agent")
    assert summary(child) == ["child question", "child answer"]
    (grandchild,) = child.spans()
    assert (grandchild.span_id, grandchild.span_type) == ("b", None)
    assert summary(grandchild) == ["grandchild question"]
    assert grandchild.spans() == []
    assert Trace(items=[]).spans() == []


def test_without_any_message_event_items_come_from_model_calls():
    question, answer = message_item("user", "q"), message_item("assistant", "a")
    events = [
        model_call([question], [answer]),
        called("ignored"),
        model_call([question, answer, question], [message_item("assistant", "b")]),
    ]
    assert summary(Trace.from_events(events)) == ["q", "a", "q", "b"]


def test_a_message_event_of_another_span_silences_model_calls():
    events = [model_call([message_item("user", "q")], []), said("user", "elsewhere", "s")]
    assert summary(Trace.from_events(events)) == []


def test_function_calls_alone_give_no_items():
    assert summary(Trace.from_events([called("f")])) == []


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        pytest.param({"result": {"n": 1}}, '{"n":1}', id="a result that is not text"),
        pytest.param({"error": "boom"}, "boom", id="an error in place of a result"),
        pytest.param({}, "", id="neither"),
    ],
)
def test_outputs_of_function_call_events(fields, text):
    trace = Trace.from_events([said("user", "q"), called("f", **fields)])
    assert trace.function_outputs[0].output == text
    assert trace.function_calls[0].arguments == "{}"


def test_events_get_ids_of_their_own_and_keep_what_they_are_given():
    first, second = ErrorEvent(message="m"), ErrorEvent(message="m")
    assert first.id != second.id
    event = CompactionEvent(strategy="trim", tokens_before=9)
    event.timestamp = datetime(2026, 1, 1, tzinfo=UTC)
    assert event.model_dump() == {
        "type": "compaction",
        "id": event.id,
        "timestamp": "2026-01-01T00:00:00+00:00",
        "strategy": "trim",
        "tokens_before": 9,
    }
    with pytest.raises(ValueError, match="is none of summary, trim"):
        CompactionEvent(strategy="drop")
    with pytest.raises(ValueError, match="missing span_id"):
        SpanBeginEvent(name="n")


def test_events_survive_loading_and_writing():
    events = [
        CustomEvent(name="n", data=[1]),
        ModelCallEvent(model="m", usage=ModelUsage(num_prompt_tokens=1), tools=["f"]),
        *SPANS,
    ]
    trace = Trace.from_events(events, metadata={"agent": "x"})
    again = Trace.load(trace.to_json())
    assert again.events == trace.events
    assert again.raw_items == trace.raw_items
    assert again.events[1].usage.num_prompt_tokens == 1
    assert [type(event) for event in again.events] == [type(event) for event in events]


def test_an_unknown_event_is_refused():
    with pytest.raises(ValueError, match=r"events\[0\]\.type: 'noise' is none of"):
        Trace.load({"items": [], "events": [{"type": "noise"}]})
