"""What models are given and what they give back, as typed views."""

from typing import Any

from tasks_lib.trace.conversions import is_chat_output, last_assistant_text, open_responses_items
from tasks_lib.trace.fields import Constant, Field, Json, Plain, maybe, plain_map, string
from tasks_lib.trace.nested import maybe_nested, nested, nested_list
from tasks_lib.trace.normalise import items_field, strict_items
from tasks_lib.trace.plain import plain, raw_of
from tasks_lib.trace.record import OpenRecord, Record


class ModelUsage(OpenRecord):
    """Tokens that one call used."""

    num_prompt_tokens = maybe(int)
    num_completion_tokens = maybe(int)


class ChatCompletionInputMessage(OpenRecord):
    """One message sent to a chat model."""

    role = string()
    content: Field[str | list[Any]] = Plain(str, list)


class ChatCompletionJSONSchema(OpenRecord):
    """The JSON Schema that a reply has to meet."""

    name = string()
    description = maybe(str)
    schema = plain_map()
    strict: Field[bool] = Plain(bool)


class ChatCompletionResponseFormatJSONSchema(OpenRecord):
    """The wish for a reply that meets a JSON Schema."""

    type = Constant("json_schema")
    json_schema = nested(ChatCompletionJSONSchema)


class ChatCompletionInput(OpenRecord):
    """All that is sent to a chat model; further parameters are kept."""

    messages = nested_list(ChatCompletionInputMessage)
    response_format = Json(default=None)


class ChatCompletionOutputMessage(OpenRecord):
    """The message of a chat model's reply."""

    role = string(default="assistant")
    content = string()
    refusal = maybe(str)


class ChatCompletionModelOutputChoice(OpenRecord):
    """One of the replies a chat model offers."""

    message = nested(ChatCompletionOutputMessage)


class ChatCompletionModelOutput(OpenRecord):
    """The output of a chat model."""

    choices = nested_list(ChatCompletionModelOutputChoice)
    usage = maybe_nested(ModelUsage)


class RAGReference(OpenRecord):
    """A retrieved text that a reply rests on."""

    content = string()


class RAGCompletionModelOutputChoice(OpenRecord):
    """One of the replies of a chat model that retrieves."""

    message = nested(ChatCompletionOutputMessage)
    references = nested_list(RAGReference)


class RAGCompletionOutput(OpenRecord):
    """The output of a chat model that retrieves."""

    choices = nested_list(RAGCompletionModelOutputChoice)
    usage = maybe_nested(ModelUsage)


class EmbeddingsModelOutput(OpenRecord):
    """The output of an embeddings model: one vector per input text."""

    embeddings: Field[list[list[float]]] = Plain(list)
    usage = maybe_nested(ModelUsage)


class OpenResponsesModelOutput(OpenRecord):
    """The output of a model that answers with trace items."""

    items = items_field()
    usage = maybe_nested(ModelUsage)


ModelOutput = (
    ChatCompletionModelOutput
    | RAGCompletionOutput
    | EmbeddingsModelOutput
    | OpenResponsesModelOutput
)


class _ModelOutputShape:
    """A model output, recognised by its shape; JSON of no known shape stays as it is."""

    def view(self, data: Any) -> Any:
        if is_chat_output(data):
            retrieves = any("references" in choice for choice in data["choices"])
            return (RAGCompletionOutput if retrieves else ChatCompletionModelOutput).view(data)
        if isinstance(data, dict) and isinstance(data.get("embeddings"), list):
            return EmbeddingsModelOutput.view(data)
        if isinstance(data, dict) and _are_items(data.get("items")):
            return OpenResponsesModelOutput.view(data)
        return data

    def accept(self, value: Any, where: str) -> Any:
        return raw_of(value) if isinstance(value, Record) else plain(value)


MODEL_OUTPUT = _ModelOutputShape()


def _are_items(value: Any) -> bool:
    try:
        strict_items(value)
    except ValueError:
        return False
    return True


def chat_messages(
    messages: list[dict[str, Any]],
) -> list[ChatCompletionInputMessage | ChatCompletionOutputMessage]:
    """Return typed views of plain chat messages; those of the assistant as output messages."""
    return [
        ChatCompletionOutputMessage.view(message)
        if message["role"] == "assistant"
        else ChatCompletionInputMessage.view(message)
        for message in messages
    ]


def chat_presentation(raw_output: Any) -> Any:
    """Return the typed view of `raw_output`; an Open Responses one as a chat completion.

    Its only choice is its last assistant message; it has no choices without one.
    """
    items = None if is_chat_output(raw_output) else open_responses_items(raw_output)
    if items is None:
        return MODEL_OUTPUT.view(raw_output)
    text = last_assistant_text(items)
    choices = [] if text is None else [{"message": {"role": "assistant", "content": text}}]
    return ChatCompletionModelOutput.view({"choices": choices, "usage": raw_output.get("usage")})


class ModelResponse(Record):
    """One reply of a model: its output as it came, and the trace items made of it."""

    raw_output: Field[Any] = nested(MODEL_OUTPUT)
    items = items_field()

    @property
    def text(self) -> str:
        """The text of the last assistant message.

        Raises:
            ValueError: there is none; `items` has what the model did answer.
        """
        text = last_assistant_text(self._data["items"])
        if text is None:
            raise ValueError("the response has no assistant message; look at its 'items'")
        return text
