"""Traces: what was said and called in a conversation, and its typed views.

Plain JSON objects are the truth. `Trace`, `SolverTrace` and the item types are views of
them that are made when somebody looks, so that storing and scoring a million traces costs
little more than reading and writing their JSON. How the modules fit:

- `plain`, `fields`, `record`, `nested`: what a view is, for any kind of object.
- `content`, `items`: the parts of a message, and the five kinds of item.
- `mending`, `normalise`: what else is taken for items, and what becomes of it.
- `conversions`: between items, chat messages, model inputs and model outputs, all plain JSON.
- `turns`, `events`, `trace`: items grouped, logged, and as the trace they make up.
- `outputs`, `solver_trace`: what models give back, and what a solver hands to the scorers.
- `legacy`, `grouped`, `evidence`: other forms of solver outputs, and the form of task results.
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
