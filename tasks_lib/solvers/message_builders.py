"""The builders of a multi-turn conversation: each appends to it, or loops over others."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.solvers.conversation import Conversation
from tasks_lib.solvers.input_builders import Role
from tasks_lib.solvers.recorded import recorded_trace
from tasks_lib.templates import TemplateSource, compile_template
from tasks_lib.trace import message_item, output_items, output_text


class TerminationCondition(Definition):
    """When a conversation, or the loop in it, has reached its end."""

    includes: str
    """Text that the message just made must hold, case-sensitive; empty always holds."""
    keep_iteration: bool = True
    """Whether what was said stays: in a loop the whole iteration, elsewhere the message."""


@dataclass(frozen=True, slots=True)
class Ending:
    """The end of a loop, or of the builders outside loops.

    Attributes:
        keep: whether the iteration, or outside loops the message, stays.
    """

    keep: bool


class MessageBuilder(Definition, ABC):
    """One step of a conversation."""

    @abstractmethod
    async def extend(self, conversation: Conversation) -> Ending | None:
        """Append to the conversation; return how it ends there, None when it goes on.

        Raises:
            SampleError: a template or a model failed.
        """


class EndingBuilder(MessageBuilder, ABC):
    """A builder whose message may end the conversation."""

    terminate_if: TerminationCondition | None = None
    """Ends the loop it is in, or the whole conversation outside loops."""

    @abstractmethod
    async def speak(self, conversation: Conversation) -> str | None:
        """Append and return the text that was said; None when there was nothing to say."""

    async def extend(self, conversation: Conversation) -> Ending | None:
        text = await self.speak(conversation)
        if text is None:
            return Ending(keep=True)
        if self.terminate_if is not None and self.terminate_if.includes in text:
            return Ending(keep=self.terminate_if.keep_iteration)
        return None


class ChatMessage(EndingBuilder):
    """Appends a message; no model is called."""

    type: Literal["chat_message"]
    """Names this builder."""
    role: Role
    """Who says it."""
    content: TemplateSource
    """Template of the text; it may use `sample`, `messages` and, in a loop, `loop_index`."""

    def render(self, conversation: Conversation) -> str:
        """Return the message's text.

        Raises:
            SampleError: the template can't be rendered.
        """
        template = compile_template(self.content, f"{self.role} message")
        return template.render(**conversation.variables())

    async def speak(self, conversation: Conversation) -> str:
        text = self.render(conversation)
        conversation.items.append(message_item(self.role, text))
        return text


class Generate(EndingBuilder):
    """Lets the evaluated model answer the conversation so far."""

    type: Literal["generate"]
    """Names this builder."""

    async def speak(self, conversation: Conversation) -> str:
        context = conversation.context
        output = await context.calls.predict(context.model_key, conversation.model_input())
        items = output_items(output.raw)
        conversation.items += items
        conversation.raw_outputs.append(output.raw)
        return "\n".join(_assistant_texts(items))


class GenerateMessage(EndingBuilder):
    """Lets another model say the next message, such as a simulated user.

    A blank message of a simulated user ends the conversation as if it had said goodbye: it
    is not appended, and no model is asked to answer it.
    """

    type: Literal["generate_message"]
    """Names this builder."""
    model_key: str
    """The model that is asked."""
    extra_input_messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    """Instructions for this model alone; they are not appended."""
    include_conversation: bool = True
    """Whether the model sees the conversation before the instructions."""
    output_role: Role | None = None
    """Who says the message; `assistant` when left out."""

    async def speak(self, conversation: Conversation) -> str | None:
        extra = [
            message_item(message.role, message.render(conversation))
            for message in self.extra_input_messages
        ]
        model_input = (
            conversation.model_input(extra)
            if self.include_conversation
            else Conversation(conversation.sample, conversation.context).model_input(extra)
        )
        output = await conversation.context.calls.predict(self.model_key, model_input)
        text = output_text(output.raw) or ""
        if self.output_role == "user" and not text.strip():
            return None
        conversation.items.append(message_item(self.output_role or "assistant", text))
        return text


class LoadTrace(MessageBuilder):
    """Appends a recorded conversation from a column of the dataset."""

    type: Literal["load_trace"]
    """Names this builder."""
    trace_column: str
    """Column with a trace: an object with `items`, a list of items, or JSON text of either."""

    async def extend(self, conversation: Conversation) -> None:
        conversation.items += recorded_trace(conversation.sample.data, self.trace_column).raw_items


class Loop(MessageBuilder):
    """Repeats builders until one of them ends it."""

    type: Literal["loop"]
    """Names this builder."""
    message_builders: tuple["LoopBuilder", ...]
    """What is done in every iteration, in order."""
    max_iterations: NonNegativeInt = 10
    """Iterations at most."""
    on_max_iterations: Literal["error", "continue"] = "error"
    """What follows when no condition ended the loop; without conditions it always continues."""

    async def extend(self, conversation: Conversation) -> None:
        for index in range(self.max_iterations):
            start = len(conversation.items)
            with conversation.iteration(index):
                ending = await _first_ending(self.message_builders, conversation)
            if ending is not None:
                if not ending.keep:
                    del conversation.items[start:]
                return
        conditional = any(
            isinstance(builder, EndingBuilder) and builder.terminate_if is not None
            for builder in self.message_builders
        )
        if conditional and self.on_max_iterations == "error":
            raise SampleError(
                "model",
                f"the conversation did not end within {self.max_iterations} iterations",
                fix="raise 'max_iterations', or set 'on_max_iterations: continue'",
            )


LoopBuilder = Annotated[
    ChatMessage | Generate | GenerateMessage | Loop, Field(discriminator="type")
]
"""What a loop may repeat."""

Builder = Annotated[
    ChatMessage | Generate | GenerateMessage | Loop | LoadTrace, Field(discriminator="type")
]
"""What a conversation may be made of."""

Loop.model_rebuild()


async def build(builders: Sequence[MessageBuilder], conversation: Conversation) -> None:
    """Run builders in order against a conversation, until one of them ends it.

    Raises:
        SampleError: a template, a model or a recorded trace failed.
    """
    for builder in builders:
        start = len(conversation.items)
        ending = await builder.extend(conversation)
        if ending is not None:
            if not ending.keep:
                del conversation.items[start:]
            return


async def _first_ending(
    builders: Sequence[MessageBuilder], conversation: Conversation
) -> Ending | None:
    for builder in builders:
        if (ending := await builder.extend(conversation)) is not None:
            return ending
    return None


def _assistant_texts(items: Sequence[dict[str, Any]]) -> list[str]:
    return [
        text
        for item in items
        if item.get("type") == "message"
        and item.get("role") == "assistant"
        and (text := output_text({"items": [item]})) is not None
    ]
