"""Turns: one user message and all that follows up to the next."""

from collections.abc import Sequence
from dataclasses import dataclass

from tasks_lib.trace.items import FunctionCall, FunctionCallOutput, Message, TraceItem

FunctionCallPair = tuple[FunctionCall, FunctionCallOutput | None]


@dataclass
class Turn:
    """A user message and the items that answer it.

    Attributes:
        user_message: opens the turn.
        assistant_items: everything up to the next user message, in order; may be empty.
    """

    user_message: Message
    assistant_items: list[TraceItem]

    @property
    def assistant_messages(self) -> list[Message]:
        """The assistant messages of the turn."""
        return messages_of(self.assistant_items, "assistant")

    @property
    def function_calls(self) -> list[FunctionCall]:
        """The function calls of the turn."""
        return calls_of(self.assistant_items)

    @property
    def function_outputs(self) -> list[FunctionCallOutput]:
        """The function outputs of the turn."""
        return outputs_of(self.assistant_items)

    @property
    def function_call_pairs(self) -> list[FunctionCallPair]:
        """Each call of the turn with its output, or None while there is none."""
        return call_pairs(self.assistant_items)


def messages_of(items: Sequence[TraceItem], role: str) -> list[Message]:
    """Return the messages of `role` among `items`."""
    return [item for item in items if isinstance(item, Message) and item.role == role]


def calls_of(items: Sequence[TraceItem]) -> list[FunctionCall]:
    """Return the function calls among `items`."""
    return [item for item in items if isinstance(item, FunctionCall)]


def outputs_of(items: Sequence[TraceItem]) -> list[FunctionCallOutput]:
    """Return the function outputs among `items`."""
    return [item for item in items if isinstance(item, FunctionCallOutput)]


def split_turns(items: Sequence[TraceItem]) -> tuple[list[TraceItem], list[Turn]]:
    """Return the items before the first user message, and the turns."""
    preamble: list[TraceItem] = []
    turns: list[Turn] = []
    for item in items:
        if isinstance(item, Message) and item.role == "user":
            turns.append(Turn(item, []))
        elif turns:
            turns[-1].assistant_items.append(item)
        else:
            preamble.append(item)
    return preamble, turns


def call_pairs(items: Sequence[TraceItem]) -> list[FunctionCallPair]:
    """Match the calls among `items` with their outputs by call id, in call order.

    Where an id is used again, the first call gets the first output.
    """
    waiting: dict[str, list[FunctionCallOutput]] = {}
    for output in outputs_of(items):
        waiting.setdefault(output.call_id, []).append(output)
    return [
        (call, waiting[call.call_id].pop(0) if waiting.get(call.call_id) else None)
        for call in calls_of(items)
    ]
