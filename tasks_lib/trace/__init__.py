"""Traces: what was said and called in a conversation, and its typed views.

Plain JSON objects are the truth. `Trace`, `SolverTrace` and the item types are views of
them that are made when somebody looks, so that storing and scoring a million traces costs
little more than reading and writing their JSON.
"""

from tasks_lib.trace.content import is_thought
from tasks_lib.trace.conversions import (
    input_items,
    is_chat_input,
    items_to_messages,
    items_to_model_input,
    output_items,
    output_text,
)
from tasks_lib.trace.items import message_item
from tasks_lib.trace.outputs import ModelResponse
from tasks_lib.trace.solver_trace import SolverTrace
from tasks_lib.trace.trace import Trace

__all__ = [
    "ModelResponse",
    "SolverTrace",
    "Trace",
    "input_items",
    "is_chat_input",
    "is_thought",
    "items_to_messages",
    "items_to_model_input",
    "message_item",
    "output_items",
    "output_text",
]
