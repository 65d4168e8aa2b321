"""The builders of a multi-turn conversation: each appends to it, or loops over others."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field, NonNegativeInt

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.solvers.call_range import ONE_CALL, CallRange, CallRanges, summed
from tasks_lib.solvers.conversation import Conversation
from tasks_lib.solvers.input_builders import Role
from tasks_lib.solvers.recorded import recorded_trace
from tasks_lib.templates import TemplateSource, compile_template
from tasks_lib.trace import items_to_model_input, message_item, output_items, output_text
from tasks_lib.trace.content import content_text, is_said


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

    @property
    def may_end(self) -> bool:
        """Whether the builders after it may be left out."""
        return False

    def calls(self, evaluated: str) -> CallRanges:
        """Return how many calls it makes, `evaluated` being the evaluated model's key."""
        return {}


class EndingBuilder(MessageBuilder, ABC):
    """A builder whose message may end the conversation."""

    terminate_if: TerminationCondition | None = None
    """Ends the loop it is in, or the whole conversation outside loops."""

    @property
    def may_end(self) -> bool:
        return self.terminate_if is not None

    def ending(self, text: str) -> Ending | None:
        """Return what follows from the condition for a message that was just made."""
        if self.terminate_if is None or self.terminate_if.includes not in text:
            return None
        return Ending(keep=self.terminate_if.keep_iteration)


class ChatMessage(EndingBuilder):
    """Appends a message; no model is called."""

    type: Literal["chat_message"]
    """Names this builder."""
    role: Role
    """Who says it."""
    content: TemplateSource
    """Template of the text; it may use `sample`, `messages` and, in a loop, `loop_index`."""

    def item(self, conversation: Conversation) -> dict[str, Any]:
        """Return the message as a trace item.

        Raises:
            SampleError: the template can't be rendered.
        """
        template = compile_template(self.content, f"{self.role} message")
        return message_item(self.role, template.render(**conversation.variables()))

    async def extend(self, conversation: Conversation) -> Ending | None:
        item = self.item(conversation)
        conversation.items.append(item)
        return self.ending(content_text(item["content"]))


class Generate(EndingBuilder):
    """Lets the evaluated model answer the conversation so far."""

    type: Literal["generate"]
    """Names this builder."""

    async def extend(self, conversation: Conversation) -> Ending | None:
        context = conversation.context
        output = await context.calls.predict(context.model_key, conversation.model_input())
        items = output_items(output.raw)
        conversation.items += items
        conversation.raw_outputs.append(output.raw)
        return self.ending(_said(items))

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: ONE_CALL}


class GenerateMessage(EndingBuilder):
    """Lets another model say the next message, such as a simulated user.

    A simulated user who says nothing has ended the conversation: as if a condition held that
    keeps the iteration, only that the blank message is not appended and so never sent.
    """

    type: Literal["generate_message"]
    """Names this builder."""
    model_key: str
    """The model that is asked: a declared one's key, or `<provider>/<model>`."""
    extra_input_messages: Annotated[tuple[ChatMessage, ...], Field(min_length=1)]
    """Instructions for this model alone; they are not appended, their conditions not looked at."""
    include_conversation: bool = True
    """Whether the model sees the conversation before the instructions."""
    output_role: Role | None = None
    """Who says the message; `assistant` when left out."""

    @property
    def may_end(self) -> bool:
        return self.terminate_if is not None or self.output_role == "user"

    async def extend(self, conversation: Conversation) -> Ending | None:
        extra = [message.item(conversation) for message in self.extra_input_messages]
        output = await conversation.context.calls.predict(
            self.model_key,
            conversation.model_input(extra)
            if self.include_conversation
            else items_to_model_input(extra),
            auxiliary=True,
        )
        text = self._text(output)
        if self.output_role == "user" and not text.strip():
            conversation.ended_by = f"model '{self.model_key}' said nothing as the user"
            return self.ending(text) or Ending(keep=True)
        conversation.items.append(message_item(self.output_role or "assistant", text))
        return self.ending(text)

    def _text(self, output: ModelOutput) -> str:
        """Return what the model said; that it could not speak is no message."""
        text = output.raw if isinstance(output.raw, str) else output_text(output.raw)
        if text is None:
            raise SampleError("model", f"model '{self.model_key}' replied with no text to say")
        if not text.strip() and output.finish_reason not in (None, "stop"):
            why = f"finish reason '{output.finish_reason}'"
            raise SampleError("model", f"model '{self.model_key}' said nothing: {why}")
        return text

    def calls(self, evaluated: str) -> CallRanges:
        return {self.model_key: ONE_CALL}


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
        for index in range(self.max_iterations if self.message_builders else 0):
            await asyncio.sleep(0)  # one that calls no model, or only the ledger, lets others on
            start = len(conversation.items)
            with conversation.iteration(index):
                ending = await _iterate(self.message_builders, conversation)
            if ending is not None:
                if not ending.keep:
                    conversation.drop_from(start)
                return
        if self.on_max_iterations == "error" and self._has_condition:
            raise SampleError(
                "model",
                f"the conversation did not end within {self.max_iterations} iterations",
                fix="raise 'max_iterations', or set 'on_max_iterations: continue'",
            )

    @property
    def _has_condition(self) -> bool:
        """Whether a builder of its own, not of a loop inside, has a condition."""
        return any(
            isinstance(builder, EndingBuilder) and builder.terminate_if is not None
            for builder in self.message_builders
        )

    def calls(self, evaluated: str) -> CallRanges:
        most = self.max_iterations
        ends = any(builder.may_end for builder in self.message_builders)
        once = calls_of(self.message_builders, evaluated)
        least = min(1, most) if ends else most
        return {key: calls.times(least, most) for key, calls in once.items()}


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
        SampleError: a template, a model or a recorded trace failed, or it never ends.
    """
    for builder in builders:
        start = len(conversation.items)
        conversation.count_step()
        ending = await builder.extend(conversation)
        if ending is not None:
            if not ending.keep:
                conversation.drop_from(start)
            return


def calls_of(builders: Sequence[MessageBuilder], evaluated: str) -> dict[str, CallRange]:
    """Return how many calls builders make in a row, by the key of the model that is called."""
    parts: list[CallRanges] = []
    may_be_over = False
    for builder in builders:
        calls = builder.calls(evaluated)
        if may_be_over:
            calls = {key: CallRange(0, found.most) for key, found in calls.items()}
        parts.append(calls)
        may_be_over = may_be_over or builder.may_end
    return summed(parts)


async def _iterate(builders: Sequence[MessageBuilder], conversation: Conversation) -> Ending | None:
    for builder in builders:
        conversation.count_step()
        ending = await builder.extend(conversation)
        if ending is not None:
            return ending
    return None


def _said(items: Sequence[dict[str, Any]]) -> str:
    """The assistant's words among a model's items, one message a line, without its thoughts."""
    return "\n".join(content_text(item["content"]) for item in items if is_said(item))
