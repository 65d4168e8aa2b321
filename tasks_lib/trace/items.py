"""The five kinds of item a trace is made of."""

from enum import StrEnum
from typing import Any

from tasks_lib.trace.content import (
    FUNCTION_OUTPUT_PART,
    Content,
    ContentList,
    ContentPart,
    content_text,
)
from tasks_lib.trace.fields import Choice, Constant, Field, Json, string
from tasks_lib.trace.nested import NestedList, RecordList, Tagged
from tasks_lib.trace.plain import View
from tasks_lib.trace.record import OpenRecord


class MessageRole(StrEnum):
    """Who speaks."""

    user = "user"
    assistant = "assistant"
    system = "system"
    developer = "developer"


class MessageStatus(StrEnum):
    """How far a message, a function call, or the answer to one has come."""

    in_progress = "in_progress"
    completed = "completed"
    incomplete = "incomplete"


FunctionCallStatus = FunctionCallOutputStatusEnum = MessageStatus
SYNTHETIC_MESSAGE_STATUS = MessageStatus.completed
"""Status of messages that no model API returned."""


class Message(OpenRecord):
    """What a user, a model, or the system said."""

    type = Constant("message")
    id = string()
    status = Choice(MessageStatus)
    role = Choice(MessageRole)
    content: Field[ContentList] = Content()

    @classmethod
    def view(cls, data: dict[str, Any]) -> "Message":
        """Return a message over `data` itself, unchecked, as the class of its role."""
        return super(Message, _MESSAGE_BY_ROLE.get(data["role"], cls)).view(data)

    @property
    def text(self) -> str:
        """The content's texts and refusals, one a line."""
        return content_text(self._data["content"])


class UserMessage(Message):
    """A message of the user."""

    def __init__(self, *, role: str = "user", **values: Any) -> None:
        super().__init__(role=role, **values)


class AssistantMessage(Message):
    """A message of the model."""

    def __init__(self, *, role: str = "assistant", **values: Any) -> None:
        super().__init__(role=role, **values)


class SystemMessage(Message):
    """Instructions to the model."""

    def __init__(self, *, role: str = "system", **values: Any) -> None:
        super().__init__(role=role, **values)


class FunctionCall(OpenRecord):
    """A model's wish to call a function."""

    type = Constant("function_call")
    id = string()
    call_id = string()
    name = string()
    arguments = string()
    """JSON text."""
    status = Choice(FunctionCallStatus)


class _TextOrParts(NestedList):
    """A text, or a list of input parts."""

    def read(self, record: View, raw: Any) -> Any:
        return raw if isinstance(raw, str) else super().read(record, raw)

    def write(self, value: Any, where: str) -> Any:
        return value if isinstance(value, str) else super().write(value, where)

    def adopt(self, record: View, value: Any) -> None:
        if not isinstance(value, str):
            super().adopt(record, value)


class FunctionCallOutput(OpenRecord):
    """What a called function answered."""

    type = Constant("function_call_output")
    id = string()
    call_id = string()
    output: Field[str | RecordList[ContentPart]] = _TextOrParts(FUNCTION_OUTPUT_PART)
    status = Choice(FunctionCallOutputStatusEnum)


class CustomTaskInputMessage(OpenRecord):
    """Input of a model that does not chat: any JSON."""

    type = Constant("custom_task_input_message")
    content = Json()


class CustomTaskOutputMessage(OpenRecord):
    """Output of a model that does not chat: any JSON."""

    type = Constant("custom_task_output_message", always_set=True)
    content = Json()


TraceItem = (
    Message | FunctionCall | FunctionCallOutput | CustomTaskInputMessage | CustomTaskOutputMessage
)

_MESSAGE_BY_ROLE: dict[str, type[Message]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "system": SystemMessage,
}

ITEM: Tagged[TraceItem] = Tagged(
    TraceItem,
    telling={
        "role": "message",
        "arguments": "function_call",
        "output": "function_call_output",
        "content": "custom_task_input_message",
    },
)
"""A trace item as the format has it, with nothing left to guess (strict)."""


def message_item(role: str, text: str) -> dict[str, Any]:
    """Return a plain message item as the platform writes it.

    Args:
        role: user, assistant, system or developer.
        text: the whole content, as one part.
    """
    part: dict[str, Any] = {"type": "input_text", "text": text}
    if role == "assistant":
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": None}
    return {"type": "message", "id": "", "status": "completed", "role": role, "content": [part]}
