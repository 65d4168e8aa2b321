"""The trace: what was said and called in one conversation."""

import json
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, Self

import orjson

from tasks_lib.jsontext import dumps, loads
from tasks_lib.trace.content import content_text, is_said
from tasks_lib.trace.events import EVENT, child_spans, event_items
from tasks_lib.trace.fields import Choice, Timestamp, maybe
from tasks_lib.trace.items import FunctionCall, FunctionCallOutput, Message, TraceItem
from tasks_lib.trace.nested import maybe_list, maybe_nested
from tasks_lib.trace.normalise import is_plain, items_field, lenient_items, strict_items
from tasks_lib.trace.plain import detached, raw_of
from tasks_lib.trace.record import Record
from tasks_lib.trace.turns import (
    FunctionCallPair,
    Turn,
    call_pairs,
    calls_of,
    messages_of,
    outputs_of,
    split_turns,
)

_EXACT = " "
"""First character of a trace's text that orjson would not read exactly."""

_ONLY_FORMAT = frozenset({"FORMAT"})


class TraceFormat(StrEnum):
    """The form of a trace's items."""

    open_responses = "open_responses"
    latticeflow = "latticeflow"


class TraceMetadata(Record):
    """Where a trace comes from."""

    trace_id = maybe(str)
    source_type = maybe(str)
    source_uri = maybe(str)
    agent = maybe(str)
    model = maybe(str)
    tags = maybe(list)
    created_at = Timestamp()
    total_time = maybe(float, int)
    """Seconds."""
    total_tokens = maybe(int)
    message_count = maybe(int)
    error = maybe(str)
    extra = maybe(dict)


class Trace(Record):
    """The items of one conversation, with what is known about it.

    The items before the first user message are the preamble; every user message opens a
    turn that lasts until the next one.
    """

    FORMAT = Choice(TraceFormat, default="open_responses")
    items = items_field()
    metadata = maybe_nested(TraceMetadata)
    events = maybe_list(EVENT)
    span_id = maybe(str)
    span_name = maybe(str)
    span_type = maybe(str)

    @classmethod
    def load(cls, value: Any, strict: bool = False) -> Self:
        """Return the trace in `value`, which stays independent of it.

        Args:
            value: a trace object, its bare list of items, JSON text of either, or a Trace.
            strict: take an object whose items are exactly as the format says, and nothing
                else.

        Raises:
            ValueError: it is not a trace; the message names the place.
        """
        quick = None if strict else _plain_trace(value)
        if quick is not None:
            return cls.view(quick)
        try:
            data = loads(value) if isinstance(value, (str, bytes)) else detached(value)
        except RecursionError:
            raise ValueError("the trace is nested too deeply") from None
        data = _object(data, strict)
        data["items"] = (strict_items if strict else lenient_items)(data["items"])
        if len(data) > 1:
            data = cls.accept({key: data[key] for key in data if key in cls.model_fields}, "trace")
        return cls.view(data)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the trace that `to_json` wrote as `text`, trusting it unchecked."""
        return cls.view(loads(text) if text[0] == _EXACT else orjson.loads(text))

    @classmethod
    def from_items(cls, items: Iterable[Any], **fields: Any) -> Self:
        """Return a trace of `items`, typed or plain, with further `fields` set.

        Raises:
            ValueError: an item or a field does not fit.
        """
        items = list(items)
        if fields or not is_plain(items):
            return cls(items=items, **fields)
        trace = cls.view({"FORMAT": "open_responses", "items": items})
        trace._unset = _ONLY_FORMAT
        return trace

    @classmethod
    def from_events(
        cls, events: Iterable[Any], *, span_id: str | None = None, **fields: Any
    ) -> Self:
        """Return a trace of `events`, its items derived from those of one span.

        Args:
            events: typed or plain events.
            span_id: the span whose own events count; None for events of no span.
            fields: further fields of the trace.

        Raises:
            ValueError: an event or a field does not fit.
        """
        trace = cls(items=[], events=list(events), span_id=span_id, **fields)
        trace.items = event_items(trace._data["events"], span_id)
        return trace

    @property
    def raw_items(self) -> list[dict[str, Any]]:
        """The items as plain JSON objects: the trace's own list, not a copy."""
        items: list[dict[str, Any]] = self._data["items"]
        return items

    def to_json(self) -> str:
        """Return the trace as JSON text: its form, its items, and the other fields set."""
        stored = self._data
        if len(stored) != 2 or "FORMAT" not in stored:
            stored = self._stored()
        try:
            return orjson.dumps(stored).decode()
        except TypeError:
            return _EXACT + dumps(stored)

    def _stored(self) -> dict[str, Any]:
        """Return what is written: its form, its items, and the other fields set."""
        data = self._data
        optional = {
            name: data[name]
            for name in self.model_fields
            if name in data and name not in self._unset
        }
        return {"FORMAT": "open_responses", "items": data["items"], **optional}

    @property
    def turns(self) -> list[Turn]:
        """Every user message with what follows it up to the next."""
        return split_turns(self.items)[1]

    @property
    def preamble(self) -> list[TraceItem]:
        """The items before the first user message; all of them without one."""
        return split_turns(self.items)[0]

    @property
    def conversation_items(self) -> list[TraceItem]:
        """The items from the first user message on."""
        return list(self.items[len(self.preamble) :])

    @property
    def user_messages(self) -> list[Message]:
        """The user message of each turn."""
        return messages_of(self.items, "user")

    @property
    def assistant_messages(self) -> list[Message]:
        """The assistant messages inside turns."""
        return messages_of(self.conversation_items, "assistant")

    @property
    def system_messages(self) -> list[Message]:
        """The system messages of the preamble."""
        return messages_of(self.preamble, "system")

    @property
    def function_calls(self) -> list[FunctionCall]:
        """All function calls, in the preamble too."""
        return calls_of(self.items)

    @property
    def function_outputs(self) -> list[FunctionCallOutput]:
        """All function outputs, in the preamble too."""
        return outputs_of(self.items)

    def get_last_assistant_text(self) -> str | None:
        """Return what the last assistant message inside a turn says; None without one.

        Thoughts are not said.
        """
        backwards = reversed(self._data["items"])
        for item in backwards:
            if is_said(item):
                for earlier in backwards:
                    if earlier["type"] == "message" and earlier["role"] == "user":
                        return content_text(item["content"])
        return None

    def get_last_user_text(self) -> str | None:
        """Return the text of the last user message; None without one."""
        for item in reversed(self._data["items"]):
            if _is_user_message(item):
                return content_text(item["content"])
        return None

    def get_first_system_prompt(self) -> str | None:
        """Return the text of the first system message of the preamble; None without one."""
        for item in self._data["items"]:
            if item["type"] == "message" and item["role"] in ("user", "system"):
                return None if item["role"] == "user" else content_text(item["content"])
        return None

    def get_function_call_pairs(self) -> list[FunctionCallPair]:
        """Return each call with its output (None while there is none), in call order."""
        return call_pairs(self.items)

    def get_function_calls_by_name(self, name: str) -> list[FunctionCall]:
        """Return the calls of the function `name`."""
        return [call for call in self.function_calls if call.name == name]

    def get_function_output_for_call(self, call_id: str) -> FunctionCallOutput | None:
        """Return the first output for `call_id`, or None."""
        outputs = (output for output in self.function_outputs if output.call_id == call_id)
        return next(outputs, None)

    @staticmethod
    def get_function_call_arguments(call: FunctionCall) -> Any:
        """Return the decoded arguments of `call`: a dict as a rule, any JSON value at worst.

        Raises:
            json.JSONDecodeError: the arguments are empty or no JSON.
        """
        return json.loads(call.arguments)

    @staticmethod
    def get_function_output_text(output: FunctionCallOutput) -> str:
        """Return the text of `output`, the text parts of a list one a line."""
        raw = raw_of(output)["output"]
        return raw if isinstance(raw, str) else content_text(raw)

    def spans(self) -> list["Trace"]:
        """Return one trace for each direct child span of this trace's span."""
        events = self._data.get("events") or []
        return [
            Trace.from_events(
                events,
                span_id=begin["span_id"],
                span_name=begin.get("name"),
                span_type=begin.get("span_type"),
            )
            for begin in child_spans(events, self.span_id)
        ]


def _plain_trace(text: Any) -> dict[str, Any] | None:
    """Return the trace object of JSON `text` if it is one that needs no second look."""
    if not isinstance(text, (str, bytes)):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    is_plain_trace = (
        type(value) is dict
        and len(value) == 2
        and value.get("FORMAT") == "open_responses"
        and type(items := value.get("items")) is list
        and is_plain(items)
    )
    return value if is_plain_trace else None


def _is_user_message(item: dict[str, Any]) -> bool:
    return item["type"] == "message" and bool(item["role"] == "user")


def _object(value: Any, strict: bool) -> dict[str, Any]:
    """Return the trace object that `value` is or, leniently, lists the items of."""
    if isinstance(value, list) and not strict:
        return {"items": value}
    if not isinstance(value, dict) or "items" not in value:
        raise ValueError(f"{value!r:.80} is not a trace; a trace is an object with 'items'")
    return value
