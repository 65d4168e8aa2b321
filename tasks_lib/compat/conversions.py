"""Conversions between model inputs, model outputs and trace items, typed or plain."""

from collections.abc import Sequence
from typing import Any

from tasks_lib.trace import conversions
from tasks_lib.trace.items import ITEM, TraceItem
from tasks_lib.trace.outputs import (
    MODEL_OUTPUT,
    ChatCompletionInput,
    ChatCompletionInputMessage,
    ChatCompletionOutputMessage,
    chat_messages,
)
from tasks_lib.trace.plain import plain


def model_output_to_items(output: Any) -> list[TraceItem]:
    """Return the trace items of a model output; see `conversions.output_items`."""
    return [ITEM.view(item) for item in conversions.output_items(plain(output))]


def model_output_to_message(output: Any) -> Any:
    """Return what a model output says: a message, vectors, or the JSON itself."""
    message = conversions.output_message(plain(output))
    if conversions.is_chat_output(plain(output)) and message is not None:
        return ChatCompletionOutputMessage.view(message)
    return message


def model_input_to_items(model_input: Any) -> list[TraceItem]:
    """Return the trace items that record a model input; see `conversions.input_items`."""
    return [ITEM.view(item) for item in conversions.input_items(plain(model_input))]


def items_to_chat_messages(
    items: Sequence[TraceItem | dict[str, Any]],
) -> list[ChatCompletionInputMessage | ChatCompletionOutputMessage]:
    """Return the system, user and assistant messages among `items` as chat messages."""
    return chat_messages(conversions.items_to_messages(plain(items)))


def items_to_model_input(items: Sequence[TraceItem | dict[str, Any]]) -> Any:
    """Return the model input that continues `items`: a chat input, or custom JSON."""
    model_input = conversions.items_to_model_input(plain(items))
    is_chat = conversions.is_chat_input(model_input)
    return ChatCompletionInput.view(model_input) if is_chat else model_input


def load_model_output(value: Any) -> Any:
    """Return the typed view of a model output, recognised by its shape."""
    return MODEL_OUTPUT.view(plain(value))
