import pytest

from tasks_lib.trace import (
    input_items,
    is_chat_input,
    items_to_messages,
    items_to_model_input,
    message_item,
    output_items,
    output_text,
)
from tasks_lib.trace.conversions import output_message, to_model_input
from tasks_lib.trace.items import UserMessage
from tasks_lib.trace.outputs import ChatCompletionInput
from tests.items import call


def chat_output(*contents, **message):
    return {
        "choices": [
            {"message": {"role": "assistant", "content": content, **message}}
            for content in contents
        ]
    }


CALL = call()
CUSTOM = {"vector": [1, 2]}

OUTPUTS = [
    pytest.param(
        chat_output("a", "b"), [message_item("assistant", "a")], "a", id="only the first choice"
    ),
    pytest.param(
        chat_output("", refusal="I won't"),
        [message_item("assistant", "")],
        "",
        id="a refusal is dropped",
    ),
    pytest.param(chat_output(None), [message_item("assistant", "")], "", id="content is null"),
    pytest.param({"choices": []}, [], None, id="no choices give no items"),
    pytest.param(
        {"items": [message_item("assistant", "a"), CALL]},
        [message_item("assistant", "a"), CALL],
        "a",
        id="the items of an Open Responses output",
    ),
    pytest.param({"items": [CALL]}, [CALL], None, id="Open Responses without a message"),
    pytest.param(
        {"items": [1, 2]},
        [{"type": "custom_task_output_message", "content": {"items": [1, 2]}}],
        None,
        id="items that are no trace items make a custom output",
    ),
    pytest.param(
        {"embeddings": [[0.5]]},
        [{"type": "custom_task_output_message", "content": {"embeddings": [[0.5]]}}],
        None,
        id="embeddings",
    ),
    pytest.param(
        {"choices": [{}]},
        [{"type": "custom_task_output_message", "content": {"choices": [{}]}}],
        None,
        id="choices without messages are some other JSON",
    ),
    pytest.param(
        chat_output([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        [message_item("assistant", "a\nb")],
        "a\nb",
        id="content in parts",
    ),
    pytest.param(
        chat_output({"label": 1}),
        [message_item("assistant", '{"label":1}')],
        '{"label":1}',
        id="content that is no text",
    ),
    pytest.param(
        {"items": [{"role": "assistant", "content": "a"}]},
        [message_item("assistant", "a")],
        "a",
        id="items that lack what may be missing",
    ),
    pytest.param(
        "words", [{"type": "custom_task_output_message", "content": "words"}], None, id="other JSON"
    ),
]


@pytest.mark.parametrize(("raw", "items", "text"), OUTPUTS)
def test_items_and_text_of_an_output(raw, items, text):
    assert output_items(raw) == items
    assert output_text(raw) == text


def test_items_of_an_output_do_not_share_with_it():
    raw = {"items": [message_item("assistant", "a")]}
    output_items(raw)[0]["content"][0]["text"] = "changed"
    assert output_text(raw) == "a"


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        pytest.param(chat_output("a", "b"), chat_output("a")["choices"][0]["message"], id="chat"),
        pytest.param({"choices": []}, None, id="no choices"),
        pytest.param({"embeddings": [[1.0]]}, [[1.0]], id="embeddings give the vectors"),
        pytest.param(CUSTOM, CUSTOM, id="other JSON gives itself"),
    ],
)
def test_message_of_an_output(raw, message):
    assert output_message(raw) == message


INPUTS = [
    pytest.param(
        {"messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]},
        [message_item("system", "s"), message_item("user", "u")],
        id="one message per entry",
    ),
    pytest.param(
        {"messages": [{"role": "user", "content": [{"type": "file", "file": {"file_id": "f"}}]}]},
        [message_item("user", "")],
        id="a list of files loses them",
    ),
    pytest.param(
        {
            "messages": [
                {
                    "role": "user",
                    "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}],
                }
            ]
        },
        [message_item("user", "a\nb")],
        id="text parts are joined",
    ),
    pytest.param({"messages": []}, [], id="an empty chat"),
    pytest.param(
        ["a", "b"],
        [{"type": "custom_task_input_message", "content": ["a", "b"]}],
        id="texts to embed",
    ),
    pytest.param(
        CUSTOM, [{"type": "custom_task_input_message", "content": CUSTOM}], id="custom JSON"
    ),
]


@pytest.mark.parametrize(("model_input", "items"), INPUTS)
def test_items_of_an_input(model_input, items):
    assert input_items(model_input) == items


def test_a_chat_entry_is_an_object():
    with pytest.raises(ValueError, match=r"messages\[0\]: 'hello' is not an object"):
        input_items({"messages": ["hello"]})


@pytest.mark.parametrize(
    ("value", "is_chat"),
    [({"messages": []}, True), ({"messages": "a"}, False), ({}, False), ([], False), (None, False)],
)
def test_a_chat_input_has_a_list_of_messages(value, is_chat):
    assert is_chat_input(value) is is_chat


def test_messages_of_items_leave_out_calls_and_developers():
    items = [
        message_item("system", "s"),
        message_item("developer", "d"),
        message_item("user", "u"),
        CALL,
        message_item("assistant", "a"),
        {"type": "custom_task_input_message", "content": 1},
    ]
    chat = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
    ]
    assert items_to_messages(items) == chat
    assert items_to_model_input(items) == {"messages": chat}


def test_model_input_of_custom_items_is_the_last_content():
    items = [
        {"type": "custom_task_input_message", "content": 1},
        {"type": "custom_task_output_message", "content": 2},
    ]
    assert items_to_model_input(items) == 2
    assert items_to_model_input([]) == {"messages": []}


USER = {"role": "user", "content": "q"}
PREDICT_INPUTS = [
    pytest.param([message_item("user", "q")], {"messages": [USER]}, id="plain items"),
    pytest.param(
        [UserMessage(id="", status="completed", content=message_item("user", "q")["content"])],
        {"messages": [USER]},
        id="typed items",
    ),
    pytest.param([USER], {"messages": [USER]}, id="chat messages"),
    pytest.param({"messages": [USER], "n": 2}, {"messages": [USER], "n": 2}, id="a chat input"),
    pytest.param(ChatCompletionInput(messages=[USER]), {"messages": [USER]}, id="a typed one"),
    pytest.param([{"x": 1}], [{"x": 1}], id="a list of other objects"),
    pytest.param(["a"], ["a"], id="texts to embed"),
    pytest.param([], {"messages": []}, id="nothing"),
]


@pytest.mark.parametrize(("value", "model_input"), PREDICT_INPUTS)
def test_whatever_predict_is_given_becomes_a_model_input(value, model_input):
    converted = to_model_input(value)
    if isinstance(converted, dict):
        converted.pop("response_format", None)
    assert converted == model_input
