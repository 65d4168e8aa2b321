"""The log of what happened, kept beside a trace's items, and its spans."""

import uuid
from collections import Counter
from enum import StrEnum
from typing import Any

from tasks_lib.jsontext import dumps
from tasks_lib.trace.fields import Choice, Constant, Field, Json, Timestamp, maybe, string
from tasks_lib.trace.items import TraceItem
from tasks_lib.trace.nested import Tagged, maybe_nested, nested
from tasks_lib.trace.normalise import LenientItem, items_field
from tasks_lib.trace.outputs import ModelUsage
from tasks_lib.trace.record import Record


class CompactionStrategy(StrEnum):
    """How a conversation was made shorter."""

    summary = "summary"
    trim = "trim"


def _new_id() -> str:
    return str(uuid.uuid4())


class Event(Record):
    """What every event has."""

    id = string(default=_new_id, always_set=True)
    span_id = maybe(str)
    timestamp = Timestamp()
    metadata = maybe(dict)


class MessageEvent(Event):
    """Something was said."""

    type = Constant("message_event", always_set=True)
    item: Field[TraceItem] = nested(LenientItem())
    model_call_id = maybe(str)


class FunctionCallEvent(Event):
    """A function was called, and perhaps answered."""

    type = Constant("function_call_event", always_set=True)
    call_id = string()
    function = string()
    arguments = Json(default=None)
    result = Json(default=None)
    status = maybe(str)
    working_time = maybe(float, int)
    error = Json(default=None)
    agent = maybe(str)
    agent_span_id = maybe(str)
    model_call_id = maybe(str)


class ModelCallEvent(Event):
    """A model was called."""

    type = Constant("model_call_event", always_set=True)
    model = maybe(str)
    input_context = items_field(default=list)
    output_items = items_field(default=list)
    usage = maybe_nested(ModelUsage)
    tools = maybe(list)
    total_time = maybe(float, int)
    error = Json(default=None)


class SpanBeginEvent(Event):
    """A span of work began."""

    type = Constant("span_begin", always_set=True)
    span_id = string()
    parent_span_id = maybe(str)
    name = maybe(str)
    span_type = maybe(str)


class SpanEndEvent(Event):
    """A span of work ended."""

    type = Constant("span_end", always_set=True)
    span_id = string()


class CompactionEvent(Event):
    """The conversation was made shorter."""

    type = Constant("compaction", always_set=True)
    strategy = Choice(CompactionStrategy)
    tokens_before = maybe(int)
    tokens_after = maybe(int)


class ErrorEvent(Event):
    """Something failed."""

    type = Constant("error", always_set=True)
    message = string()
    traceback = maybe(str)


class CustomEvent(Event):
    """Anything else."""

    type = Constant("custom", always_set=True)
    name = string()
    data = Json(default=None)


TraceEvent = (
    MessageEvent
    | FunctionCallEvent
    | ModelCallEvent
    | SpanBeginEvent
    | SpanEndEvent
    | CompactionEvent
    | ErrorEvent
    | CustomEvent
)
EVENT: Tagged[TraceEvent] = Tagged(TraceEvent)


def event_items(events: list[dict[str, Any]], span_id: str | None) -> list[dict[str, Any]]:
    """Return the plain items that plain `events` tell of, for one span.

    Where any message event exists, in whatever span, the span's message and function-call
    events count; otherwise its model calls, of each the input that is new and the output.
    """
    own = [event for event in events if event.get("span_id") == span_id]
    if not any(event["type"] == "message_event" for event in events):
        return _items_of_model_calls(own)
    items: list[dict[str, Any]] = []
    for event in own:
        if event["type"] == "message_event":
            items.append(event["item"])
        elif event["type"] == "function_call_event":
            items += _items_of_function_call(event)
    return items


def child_spans(events: list[dict[str, Any]], span_id: str | None) -> list[dict[str, Any]]:
    """Return the begin events of the direct children of a span, or of the root for None."""
    return [
        event
        for event in events
        if event["type"] == "span_begin" and event.get("parent_span_id") == span_id
    ]


def _items_of_model_calls(events: list[dict[str, Any]]) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for event in events:
        if event["type"] == "model_call_event":
            known = Counter(map(dumps, items))
            for item in event.get("input_context") or []:
                key = dumps(item)
                if known[key]:
                    known[key] -= 1
                else:
                    items.append(item)
            items += event.get("output_items") or []
    return items


def _items_of_function_call(event: dict[str, Any]) -> list[dict[str, Any]]:
    call_id, status = event["call_id"], event.get("status")
    shared = {
        "id": "",
        "call_id": call_id,
        "status": status if status in ("in_progress", "incomplete") else "completed",
    }
    call = {
        "type": "function_call",
        **shared,
        "name": event["function"],
        "arguments": _as_text(event.get("arguments"), "{}"),
    }
    outcome = event.get("result")
    if outcome is None:
        outcome = event.get("error")
    return [call, {"type": "function_call_output", **shared, "output": _as_text(outcome, "")}]


def _as_text(value: Any, absent: str) -> str:
    if value is None:
        return absent
    return value if isinstance(value, str) else dumps(value)
