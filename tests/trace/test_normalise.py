import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.trace.items import UserMessage, message_item
from tasks_lib.trace.normalise import is_plain, lenient_items, strict_items
from tests.items import answer, call

CALL = call(arguments={"x": 1}, call_id="c1")
OUTPUT = answer("42", "c1")
REASONING = {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]}


def reasoning_item(text):
    content = [{"type": "reasoning_text", "text": text}]
    return {**message_item("assistant", ""), "content": content}


MENDED = [
    pytest.param([{"role": "user", "content": "a"}], [message_item("user", "a")], id="chat user"),
    pytest.param(
        [{"role": "assistant", "content": "a"}], [message_item("assistant", "a")], id="chat reply"
    ),
    pytest.param(
        [{"type": "message", "role": "system", "content": "a"}],
        [message_item("system", "a")],
        id="id and status are missing",
    ),
    pytest.param(
        [{"role": "user", "content": None}], [message_item("user", "")], id="content is null"
    ),
    pytest.param(
        [{**CALL, "arguments": {"x": 1}}], [CALL], id="arguments are an object, not its text"
    ),
    pytest.param(
        [{"type": "function_call", "call_id": "c1", "name": "f", "arguments": '{"x":1}'}],
        [CALL],
        id="a call without id and status",
    ),
    pytest.param(
        [{"type": "function_call_output", "call_id": "c1", "output": 42}],
        [OUTPUT],
        id="an output that is not text",
    ),
    pytest.param(
        [
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "f", "arguments": '{"x":1}'},
                    }
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "42"},
        ],
        [CALL, OUTPUT],
        id="tool calls of a chat",
    ),
    pytest.param(
        [{"role": "tool", "tool_call_id": "c1", "content": [{"type": "text", "text": "42"}]}],
        [OUTPUT],
        id="a tool message in parts",
    ),
    pytest.param(
        [{"role": "assistant", "content": "a", "tool_calls": []}],
        [message_item("assistant", "a")],
        id="an empty list of tool calls",
    ),
    pytest.param([REASONING], [reasoning_item("hm")], id="reasoning with a summary"),
    pytest.param(
        [{**REASONING, "content": [{"type": "reasoning_text", "text": "full"}]}],
        [reasoning_item("full")],
        id="reasoning in full",
    ),
    pytest.param([{"type": "reasoning", "id": "r", "summary": []}], [], id="reasoning unsaid"),
    pytest.param(
        [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "u"}}]}],
        [
            {
                **message_item("user", ""),
                "content": [{"type": "input_image", "image_url": "u", "detail": "auto"}],
            }
        ],
        id="an image of a chat",
    ),
    pytest.param(
        [{"role": "user", "content": ["a"]}], [message_item("user", "a")], id="a part that is text"
    ),
]


@pytest.mark.parametrize(("given", "items"), MENDED)
def test_what_lenient_loading_puts_right(given, items):
    assert lenient_items(given) == items
    assert lenient_items(items) == items


WHOLE = [
    pytest.param(message_item("user", "a"), id="a message"),
    pytest.param(CALL, id="a call"),
    pytest.param(OUTPUT, id="an output"),
    pytest.param(
        {**OUTPUT, "output": [{"type": "input_text", "text": "a"}]}, id="an output in parts"
    ),
    pytest.param({"type": "custom_task_input_message", "content": {"x": [1]}}, id="custom input"),
    pytest.param({"type": "custom_task_output_message", "content": None}, id="custom output"),
    pytest.param({**message_item("user", "a"), "session_id": "s"}, id="an item with a key more"),
    pytest.param({**message_item("developer", "a"), "status": "incomplete"}, id="a developer"),
]


@pytest.mark.parametrize("item", WHOLE)
def test_whole_items_pass_both_ways_unchanged(item):
    assert strict_items([item]) == lenient_items([item]) == [item]


REFUSED_BY_BOTH = [
    pytest.param({"type": "web_search_call", "id": "w"}, "'web_search_call'", id="another kind"),
    pytest.param({**message_item("user", "a"), "role": "robot"}, "'robot'", id="another role"),
    pytest.param({**message_item("user", "a"), "status": "done"}, "'done'", id="another status"),
    pytest.param(
        {**message_item("user", "a"), "content": [{"type": "sound"}]}, "'sound'", id="another part"
    ),
    pytest.param(
        {**message_item("user", "a"), "content": [{"type": "input_text", "text": None}]},
        r"content\[0\]\.text: None is not text",
        id="a part without its text",
    ),
    pytest.param({**CALL, "call_id": None}, "call_id", id="a call without call_id"),
    pytest.param({"type": "custom_task_input_message"}, "missing 'content'", id="no content"),
    pytest.param("hello", "is not an object", id="bare text"),
    pytest.param(
        {**OUTPUT, "output": [{"type": "output_text", "text": "a"}]}, "output", id="output parts"
    ),
]


TOOL_CALLS = [
    pytest.param({"role": "assistant", "tool_calls": 1}, "1 is not a list", id="tool calls"),
    pytest.param(
        {"role": "assistant", "tool_calls": [{"id": "c"}]}, "has no 'function'", id="a tool call"
    ),
]


@pytest.mark.parametrize(("item", "problem"), [*REFUSED_BY_BOTH[:-1], *TOOL_CALLS])
def test_what_can_not_be_put_right_names_its_place(item, problem):
    with pytest.raises(ValueError, match=rf"items\[1\].*{problem}|{problem}"):
        lenient_items([message_item("user", "a"), item])


REFUSED_WHEN_STRICT = [
    *REFUSED_BY_BOTH,
    pytest.param({**message_item("user", "a"), "content": "a"}, "not a list", id="text content"),
    pytest.param(
        {"type": "message", "role": "user", "content": []}, "missing 'id'", id="missing id"
    ),
    pytest.param(
        {"type": "message", "id": "", "role": "user", "content": []}, "'status'", id="no status"
    ),
    pytest.param({**message_item("user", "a"), "role": "tool"}, "'tool'", id="a tool message"),
    pytest.param({**CALL, "arguments": {}}, "arguments", id="arguments as an object"),
    pytest.param(REASONING, "'reasoning'", id="reasoning"),
]


@pytest.mark.parametrize(("item", "problem"), REFUSED_WHEN_STRICT)
def test_strict_items_are_exactly_the_format(item, problem):
    with pytest.raises(ValueError, match=problem):
        strict_items([item])


def test_an_item_without_type_is_a_message_when_the_rest_says_so():
    item = message_item("user", "a")
    del item["type"]
    assert strict_items([item]) == [message_item("user", "a")]


KEYS = st.sampled_from(
    [
        "type",
        "id",
        "role",
        "status",
        "content",
        "text",
        "tool_calls",
        "function",
        "name",
        "arguments",
        "output",
        "summary",
    ]
)
WORDS = st.sampled_from(
    [
        "message",
        "function_call",
        "function_call_output",
        "reasoning",
        "user",
        "assistant",
        "tool",
        "input_text",
    ]
)
JSON = st.recursive(
    st.none() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6),
    max_leaves=12,
)


@given(JSON)
def test_any_json_is_put_right_for_good_or_refused(value):
    try:
        items = lenient_items([value])
    except ValueError:
        return
    assert strict_items(items) == lenient_items(items) == items


def test_typed_items_pass_as_their_json():
    typed = UserMessage(id="", status="completed", content=[])
    assert lenient_items([typed]) == [{**message_item("user", ""), "content": []}]


@pytest.mark.parametrize("items", [None, "text", {"items": []}])
def test_items_are_a_list(items):
    with pytest.raises(ValueError, match="is not a list"):
        lenient_items(items)


@pytest.mark.parametrize("item", [*[each.values[0] for each in WHOLE[:3]]])
def test_the_quick_look_lets_common_items_pass(item):
    assert is_plain([item])


@pytest.mark.parametrize("item", [each.values[0] for each in REFUSED_WHEN_STRICT])
def test_the_quick_look_lets_nothing_pass_that_strict_loading_refuses(item):
    assert not is_plain([item])
