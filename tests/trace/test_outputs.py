import pytest

from tasks_lib.trace import ModelResponse, message_item
from tasks_lib.trace.items import Message
from tasks_lib.trace.outputs import (
    MODEL_OUTPUT,
    ChatCompletionInput,
    ChatCompletionModelOutput,
    ChatCompletionModelOutputChoice,
    ChatCompletionOutputMessage,
    ChatCompletionResponseFormatJSONSchema,
    EmbeddingsModelOutput,
    OpenResponsesModelOutput,
    RAGCompletionOutput,
)

CHAT = {"choices": [{"message": {"role": "assistant", "content": "a", "refusal": None}}]}
RAG = {"choices": [{**CHAT["choices"][0], "references": [{"content": "r", "score": 0.5}]}]}

SHAPES = [
    pytest.param(CHAT, ChatCompletionModelOutput, id="chat"),
    pytest.param({"choices": []}, ChatCompletionModelOutput, id="chat without choices"),
    pytest.param(RAG, RAGCompletionOutput, id="references win"),
    pytest.param({"embeddings": [[1.0]]}, EmbeddingsModelOutput, id="embeddings"),
    pytest.param({"items": [message_item("user", "")]}, OpenResponsesModelOutput, id="items"),
    pytest.param({"items": ["a"]}, dict, id="items of another kind stay JSON"),
    pytest.param({"x": 1}, dict, id="an object stays JSON"),
    pytest.param("text", str, id="text stays text"),
    pytest.param(None, type(None), id="null stays null"),
]


@pytest.mark.parametrize(("raw", "cls"), SHAPES)
def test_outputs_are_recognised_by_shape(raw, cls):
    assert type(MODEL_OUTPUT.view(raw)) is cls


def test_a_chat_output_can_be_built_of_parts():
    message = ChatCompletionOutputMessage(role="assistant", content="a")
    output = ChatCompletionModelOutput(choices=[ChatCompletionModelOutputChoice(message=message)])
    assert output.choices[0].message.content == "a"
    assert output.usage is None
    assert output.model_dump() == {"choices": [{"message": {"role": "assistant", "content": "a"}}]}


def test_null_content_is_no_chat_output():
    with pytest.raises(ValueError, match="None is not text"):
        ChatCompletionOutputMessage(content=None)


def test_more_keys_are_kept():
    output = MODEL_OUTPUT.view({**RAG, "usage": {"num_prompt_tokens": 3, "cached": 1}, "id": "x"})
    assert output.choices[0].references[0].score == 0.5
    assert (output.usage.num_prompt_tokens, output.usage.num_completion_tokens) == (3, None)
    assert output.usage.cached == 1
    assert output.id == "x"


def test_a_response_format_names_its_schema():
    schema = {"name": "n", "schema": {"type": "object"}, "strict": True}
    form = ChatCompletionResponseFormatJSONSchema(json_schema=schema)
    assert form.json_schema.strict is True
    assert form.json_schema.description is None
    chat = ChatCompletionInput(messages=[], response_format=form, temperature=0)
    assert chat.temperature == 0
    assert chat.response_format["json_schema"]["name"] == "n"


def test_the_text_of_a_response_is_its_last_assistant_message():
    items = [message_item("assistant", "a"), message_item("assistant", "b")]
    response = ModelResponse(raw_output=CHAT, items=items)
    assert response.text == "b"
    assert isinstance(response.items[0], Message)
    assert isinstance(response.raw_output, ChatCompletionModelOutput)


def test_a_response_without_text_points_to_its_items():
    response = ModelResponse(raw_output={"x": 1}, items=[])
    with pytest.raises(ValueError, match="'items'"):
        response.text  # noqa: B018
    assert response.raw_output == {"x": 1}
