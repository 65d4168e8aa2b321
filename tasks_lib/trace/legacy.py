"""Solver outputs as they were before there were traces."""

from typing import Any

from tasks_lib.trace.conversions import input_items, items_to_messages
from tasks_lib.trace.fields import Field
from tasks_lib.trace.items import CustomTaskInputMessage, CustomTaskOutputMessage
from tasks_lib.trace.nested import LookedAt, RecordList, nested, nested_list
from tasks_lib.trace.outputs import (
    MODEL_OUTPUT,
    ChatCompletionInputMessage,
    ChatCompletionOutputMessage,
)
from tasks_lib.trace.plain import copy_json
from tasks_lib.trace.record import Record
from tasks_lib.trace.solver_trace import DirectModelIO, SolverTrace
from tasks_lib.trace.trace import Trace

LegacyMessage = (
    ChatCompletionInputMessage
    | ChatCompletionOutputMessage
    | CustomTaskInputMessage
    | CustomTaskOutputMessage
)
_CUSTOM_MESSAGES: dict[str, type[CustomTaskInputMessage | CustomTaskOutputMessage]] = {
    "custom_task_input_message": CustomTaskInputMessage,
    "custom_task_output_message": CustomTaskOutputMessage,
}


def _message_class(data: dict[str, Any]) -> type[LegacyMessage]:
    custom = _CUSTOM_MESSAGES.get(data.get("type", ""))
    if custom is not None:
        return custom
    is_reply = data.get("role") == "assistant"
    return ChatCompletionOutputMessage if is_reply else ChatCompletionInputMessage


class SingleSolverOutput(Record):
    """A conversation as chat messages, the model's last one included, and its output."""

    messages: Field[RecordList[LegacyMessage]] = nested_list(LookedAt(_message_class, "a message"))
    output: Field[Any] = nested(MODEL_OUTPUT)
    direct_ios = nested_list(DirectModelIO, default=list)


def to_legacy(solver_trace: SolverTrace) -> SingleSolverOutput:
    """Return `solver_trace` in the form that `message_format: latticeflow` asks for.

    Function calls and developer messages have no place in it and are left out; a model that
    does not chat keeps its custom messages.
    """
    items = solver_trace.trace.raw_items
    messages: list[dict[str, Any]] = items_to_messages(items)
    if not messages:
        messages = [copy_json(item) for item in items if item["type"] in _CUSTOM_MESSAGES]
    outputs = solver_trace.raw_outputs_json
    return SingleSolverOutput(
        messages=messages,
        output=outputs[-1] if outputs else None,
        direct_ios=list(solver_trace.direct_ios),
    )


def from_legacy(output: SingleSolverOutput) -> SolverTrace:
    """Return an output of the older form as a solver trace; `to_legacy` gives it back."""
    data = output._data
    items: list[dict[str, Any]] = []
    for message in data.get("messages") or ():
        if message.get("type") in _CUSTOM_MESSAGES:
            items.append(copy_json(message))
        else:
            items += input_items({"messages": [message]})
    raw_output = data.get("output")
    return SolverTrace(
        Trace.from_items(items),
        [] if raw_output is None else [raw_output],
        data.get("direct_ios") or (),
    )
