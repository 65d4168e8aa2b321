import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.trace import Trace, message_item
from tasks_lib.trace.content import (
    InputTextContent,
    OutputTextContent,
    ReasoningTextContent,
    RefusalContent,
)
from tasks_lib.trace.items import (
    AssistantMessage,
    CustomTaskInputMessage,
    CustomTaskOutputMessage,
    FunctionCall,
    FunctionCallOutput,
    Message,
    MessageRole,
    UserMessage,
)
from tasks_lib.trace.trace import TraceFormat, TraceMetadata
from tests.items import answer, call

CONVERSATION = [
    message_item("system", "be brief"),
    message_item("developer", "no tables"),
    message_item("assistant", "welcome"),
    call(call_id="c0"),
    message_item("user", "one"),
    message_item("system", "hurry"),
    call("search", '{"q": "x"}', "c1"),
    answer("found", "c1"),
    answer("done", "c0"),
    message_item("assistant", "first"),
    message_item("user", "two"),
    message_item("user", "three"),
    call(call_id="c2"),
    message_item("assistant", "last"),
]


def texts(messages):
    return [message.text for message in messages]


def test_turns_are_user_messages_with_what_follows():
    trace = Trace.from_items(CONVERSATION)
    assert texts(turn.user_message for turn in trace.turns) == ["one", "two", "three"]
    assert [len(turn.assistant_items) for turn in trace.turns] == [5, 0, 2]
    assert len(trace.preamble) == 4
    assert len(trace.conversation_items) == 10
    first = trace.turns[0]
    assert texts(first.assistant_messages) == ["first"]
    assert [each.call_id for each in first.function_calls] == ["c1"]
    assert [each.call_id for each in first.function_outputs] == ["c1", "c0"]
    assert [(a.call_id, b and b.output) for a, b in first.function_call_pairs] == [("c1", "found")]


def test_messages_by_role():
    trace = Trace.from_items(CONVERSATION)
    assert texts(trace.user_messages) == ["one", "two", "three"]
    assert texts(trace.assistant_messages) == ["first", "last"]  # not the greeting before a turn
    assert texts(trace.system_messages) == ["be brief"]  # not the one inside a turn


def test_texts_for_scorers():
    trace = Trace.from_items(CONVERSATION)
    assert trace.get_last_assistant_text() == "last"
    assert trace.get_last_user_text() == "three"
    assert trace.get_first_system_prompt() == "be brief"


NO_ANSWER = [
    pytest.param([], id="no items"),
    pytest.param([message_item("user", "a")], id="no assistant message"),
    pytest.param([message_item("assistant", "a")], id="an assistant message outside a turn"),
    pytest.param(
        [message_item("assistant", "a"), message_item("user", "b")], id="only before the turn"
    ),
]


@pytest.mark.parametrize("items", NO_ANSWER)
def test_no_answer_is_none(items):
    assert Trace.from_items(items).get_last_assistant_text() is None


def test_an_empty_answer_is_empty_text():
    items = [message_item("user", "a"), message_item("assistant", "")]
    assert Trace.from_items(items).get_last_assistant_text() == ""


def test_without_system_or_user_messages_their_texts_are_none():
    trace = Trace.from_items([message_item("developer", "d")])
    assert trace.get_last_user_text() is None
    assert trace.get_first_system_prompt() is None
    late = Trace.from_items([message_item("user", "u"), message_item("system", "s")])
    assert late.get_first_system_prompt() is None


def test_function_calls_and_their_outputs():
    trace = Trace.from_items([*CONVERSATION, answer("done", "orphan")])
    assert [each.call_id for each in trace.function_calls] == ["c0", "c1", "c2"]
    assert [each.call_id for each in trace.function_outputs] == ["c1", "c0", "orphan"]
    pairs = trace.get_function_call_pairs()
    assert [(a.call_id, b and b.output) for a, b in pairs] == [
        ("c0", "done"),
        ("c1", "found"),
        ("c2", None),
    ]
    assert [each.call_id for each in trace.get_function_calls_by_name("search")] == ["c1"]
    assert trace.get_function_output_for_call("c1").output == "found"
    assert trace.get_function_output_for_call("c2") is None


@pytest.mark.parametrize(
    ("arguments", "value"), [('{"q": "x"}', {"q": "x"}), ("[1]", [1]), ("null", None), ("2", 2)]
)
def test_arguments_are_decoded_whatever_they_are(arguments, value):
    trace = Trace.from_items([call(arguments=arguments)])
    assert trace.get_function_call_arguments(trace.function_calls[0]) == value


@pytest.mark.parametrize("arguments", ["", "{"])
def test_arguments_that_are_no_json_raise(arguments):
    trace = Trace.from_items([call(arguments=arguments)])
    with pytest.raises(json.JSONDecodeError):
        trace.get_function_call_arguments(trace.function_calls[0])


def test_output_text_joins_the_text_parts():
    parts = [
        {"type": "input_text", "text": "a"},
        {"type": "input_image", "image_url": "u", "detail": "low"},
        {"type": "input_text", "text": "b"},
    ]
    trace = Trace.from_items([answer(parts), answer("plain", "d")])
    first, second = trace.function_outputs
    assert trace.get_function_output_text(first) == "a\nb"
    assert trace.get_function_output_text(second) == "plain"
    assert [part.type for part in first.output] == ["input_text", "input_image", "input_text"]


def test_items_are_shown_as_the_class_of_their_role():
    items = [message_item("user", "a"), message_item("developer", "b"), call()]
    user, developer, calls = Trace.from_items(items).items
    assert type(user) is UserMessage
    assert type(developer) is Message
    assert isinstance(calls, FunctionCall)
    assert user.role is MessageRole.user
    assert user.role == "user"
    assert f"{user.role}" == "user"


ITEMS = [message_item("user", "q"), message_item("assistant", "a")]
OBJECT = {"FORMAT": "open_responses", "items": ITEMS}
FORMS = [
    pytest.param(OBJECT, id="an object"),
    pytest.param({"items": ITEMS}, id="an object without FORMAT"),
    pytest.param({**OBJECT, "later": 1}, id="an object with a key more"),
    pytest.param(ITEMS, id="a bare list"),
    pytest.param(json.dumps(OBJECT), id="JSON text"),
    pytest.param(json.dumps(ITEMS), id="JSON text of a list"),
    pytest.param(json.dumps(OBJECT).encode(), id="JSON bytes"),
    pytest.param(
        [{"role": "user", "content": "q"}, {"role": "assistant", "content": "a"}], id="chat"
    ),
    pytest.param(Trace.from_items(ITEMS), id="a trace"),
]


@pytest.mark.parametrize("value", FORMS)
def test_every_form_of_a_dataset_column_loads(value):
    trace = Trace.load(value)
    assert trace.raw_items == ITEMS
    assert json.loads(trace.to_json()) == OBJECT


NOT_TRACES = [
    pytest.param("not json", "Expecting value", id="text that is not JSON"),
    pytest.param("3", "3 is not a trace", id="JSON of something else"),
    pytest.param({"messages": []}, "an object with 'items'", id="an object without items"),
    pytest.param({"items": "a"}, "items: 'a' is not a list", id="items that are no list"),
    pytest.param({**OBJECT, "FORMAT": "chatml"}, "trace.FORMAT: 'chatml'", id="another form"),
    pytest.param({**OBJECT, "metadata": {"tags": "a"}}, "metadata.tags", id="other metadata"),
    pytest.param(None, "None is not a trace", id="null"),
    pytest.param("[" * 100_000, "nested too deeply", id="brackets without end"),
]


@pytest.mark.parametrize(("value", "problem"), NOT_TRACES)
@pytest.mark.parametrize("strict", [False, True])
def test_anything_else_is_a_value_error(value, problem, strict):
    with pytest.raises(ValueError, match=problem):
        Trace.load(value, strict=strict)


def test_strict_loading_takes_no_list_and_no_chat():
    assert Trace.load(json.dumps(OBJECT), strict=True).raw_items == ITEMS
    with pytest.raises(ValueError, match="an object with 'items'"):
        Trace.load(ITEMS, strict=True)
    with pytest.raises(ValueError, match="missing 'id'"):
        Trace.load({"items": [{"type": "message", "role": "user", "content": []}]}, strict=True)


def test_what_is_loaded_is_independent_of_what_it_was_loaded_from():
    data = json.loads(json.dumps(OBJECT))
    Trace.load(data).items[0].content[0].text = "changed"
    assert data == OBJECT


def test_optional_fields_are_kept_and_written_when_set():
    metadata = {"trace_id": "t", "created_at": "2026-01-02T03:04:05+00:00", "total_time": 1.5}
    trace = Trace.load({**OBJECT, "metadata": metadata, "span_name": None})
    assert trace.metadata.created_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert trace.metadata.agent is None
    written = json.loads(trace.to_json())
    assert written == {**OBJECT, "metadata": metadata, "span_name": None}


def test_metadata_takes_datetimes():
    moment = datetime(2026, 1, 2, tzinfo=UTC)
    trace = Trace.from_items([], metadata=TraceMetadata(created_at=moment, tags=["a"]))
    assert trace.metadata.created_at == moment
    assert json.loads(trace.to_json())["metadata"]["created_at"] == "2026-01-02T00:00:00+00:00"
    trace.metadata.created_at = 1767312000
    assert trace.metadata.created_at == moment
    trace.metadata.created_at = None
    assert trace.metadata.created_at is None


def test_a_constructed_trace_writes_its_form_and_dumps_what_was_set():
    trace = Trace(items=[])
    assert trace.FORMAT is TraceFormat.open_responses
    assert trace.to_json() == '{"FORMAT":"open_responses","items":[]}'
    assert trace.model_dump() == Trace.from_items([]).model_dump() == {"items": []}
    assert Trace.from_items([], span_id="s").model_dump() == {"items": [], "span_id": "s"}


def test_typed_and_plain_items_mix():
    typed = AssistantMessage(id="", status="completed", content=[])
    trace = Trace(items=[message_item("user", "a"), typed])
    assert trace.items[1] is typed
    typed.content.append({"type": "output_text", "text": "late"})
    assert trace.get_last_assistant_text() == "late"


def test_items_appended_by_a_snippet_are_written():
    trace = Trace.from_items([])
    trace.items.append(CustomTaskInputMessage(content={"x": 1}))
    trace.items += [{"role": "user", "content": "q"}]
    assert trace.raw_items == [
        {"type": "custom_task_input_message", "content": {"x": 1}},
        message_item("user", "q"),
    ]
    with pytest.raises(ValueError, match="is not one trace item"):
        trace.items.append({"type": "reasoning", "summary": []})


def test_a_dump_of_constructed_items_loads_though_types_are_left_out():
    items = [
        UserMessage(id="", status="completed", content=[InputTextContent(text="q")]),
        FunctionCall(id="", call_id="c", name="f", arguments="{}", status="completed"),
        FunctionCallOutput(
            id="", call_id="c", output=[InputTextContent(text="o")], status="completed"
        ),
        AssistantMessage(
            id="",
            status="completed",
            content=[ReasoningTextContent(text="r"), RefusalContent(refusal="no")],
        ),
        AssistantMessage(id="", status="completed", content=[OutputTextContent(text="a")]),
        CustomTaskInputMessage(content=1),
        CustomTaskOutputMessage(content=2),
    ]
    trace = Trace.from_items(items)
    dumped = trace.model_dump(mode="json")
    assert not any("type" in item for item in dumped["items"][:-1])
    loaded = Trace.load(dumped)
    assert [item.type for item in loaded.items] == [item.type for item in items]
    parts = [part.type for item in loaded.items[3:5] for part in item.content]
    assert parts == ["reasoning_text", "refusal", "output_text"]
    assert loaded.get_last_assistant_text() == "a"
    assert Trace.load(trace.model_dump_include_unset()) == trace


EXACT_ITEMS = [
    pytest.param({"type": "custom_task_input_message", "content": 2**80}, id="a long integer"),
    pytest.param({**message_item("user", "a"), "seed": 10**30}, id="a long integer in a key more"),
    pytest.param(message_item("user", "\udc00 half"), id="a lone surrogate"),
    pytest.param({"type": "custom_task_output_message", "content": [-(2**63)]}, id="64 bits"),
]


@pytest.mark.parametrize("item", EXACT_ITEMS)
@pytest.mark.parametrize("read", [Trace.load, Trace.from_json])
def test_no_data_is_lost_in_text(item, read):
    text = Trace.from_items([item]).to_json()
    text.encode()
    assert read(text).raw_items == [item]


MESSAGES = st.builds(
    message_item, st.sampled_from(["user", "assistant", "system", "developer"]), st.text()
)
CALLS = st.builds(call, st.text(), st.text(), st.sampled_from("abc"))
OUTPUTS = st.builds(answer, st.text(), st.sampled_from("abc"))


@given(st.lists(MESSAGES | CALLS | OUTPUTS))
def test_any_trace_survives_text_and_its_turns_cover_it(items):
    trace = Trace.load(Trace.from_items(items).to_json())
    assert trace.raw_items == items
    assert Trace.from_json(trace.to_json()).raw_items == items
    covered = list(trace.preamble)
    for turn in trace.turns:
        covered += [turn.user_message, *turn.assistant_items]
    assert covered == trace.items
    answers = texts(trace.assistant_messages)
    assert trace.get_last_assistant_text() == (answers[-1] if answers else None)
