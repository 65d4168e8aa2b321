"""What a solver hands to the scorers."""

from collections.abc import Iterable, Sequence
from typing import Any

from tasks_lib.trace.conversions import items_to_messages
from tasks_lib.trace.fields import Field, Json, string
from tasks_lib.trace.items import TraceItem, message_item
from tasks_lib.trace.nested import RecordList, nested, nested_list
from tasks_lib.trace.outputs import (
    MODEL_OUTPUT,
    ChatCompletionInputMessage,
    ChatCompletionOutputMessage,
    ModelResponse,
    chat_messages,
    chat_presentation,
)
from tasks_lib.trace.plain import raw_of
from tasks_lib.trace.record import Record
from tasks_lib.trace.trace import Trace


class DirectInput(Record):
    """A request as it was sent."""

    body = string()


class DirectOutput(Record):
    """A reply as it was received."""

    body = string()
    status_code: Field[int | None] = Json(default=None)
    headers: Field[dict[str, str] | None] = Json(default=None)


class DirectModelIO(Record):
    """One exchange with a model's endpoint, bodies as text."""

    direct_input = nested(DirectInput)
    direct_output = nested(DirectOutput)


class SolverTrace(Record):
    """A conversation with the model outputs behind it.

    Solvers append to it, scorers read it.

    Args:
        trace: the conversation.
        raw_outputs: one output per call of the evaluated model, typed or plain.
        direct_ios: exchanges with model endpoints, typed or plain: what authors put here. What
            was said in an evaluation is in `trace` and `raw_outputs`, which alone are stored.
    """

    trace = nested(Trace)
    raw_outputs: Field[RecordList[Any]] = nested_list(MODEL_OUTPUT)
    direct_ios = nested_list(DirectModelIO, default=list)

    def __init__(
        self,
        trace: Trace | None = None,
        raw_outputs: Sequence[Any] = (),
        direct_ios: Sequence[Any] = (),
    ) -> None:
        trace = Trace.from_items([]) if trace is None else trace
        self._data = {
            "trace": trace._data,
            "raw_outputs": [raw_of(output) for output in raw_outputs],
            "direct_ios": [raw_of(exchange) for exchange in direct_ios],
        }
        self._views = {"trace": trace}
        self._unset = frozenset()

    @property
    def raw_outputs_json(self) -> list[Any]:
        """The model outputs as plain JSON: the trace's own list, not a copy."""
        outputs: list[Any] = self._data["raw_outputs"]
        return outputs

    @property
    def items(self) -> RecordList[TraceItem]:
        """The items of the trace."""
        return self.trace.items

    @property
    def messages(self) -> list[ChatCompletionInputMessage | ChatCompletionOutputMessage]:
        """The system, user and assistant messages as chat messages."""
        return chat_messages(items_to_messages(self.trace.raw_items))

    @property
    def output(self) -> Any:
        """The last model output, None before there is one.

        An Open Responses output is shown as a chat completion of its last assistant message.
        """
        outputs = self._data["raw_outputs"]
        return chat_presentation(outputs[-1]) if outputs else None

    def append_system_message(self, text: str) -> None:
        """Append a system message."""
        self.trace.raw_items.append(message_item("system", text))

    def append_user_message(self, text: str) -> None:
        """Append a user message."""
        self.trace.raw_items.append(message_item("user", text))

    def append_custom_task_input_message(self, content: Any) -> None:
        """Append the input of a model that does not chat, any JSON."""
        self.append({"type": "custom_task_input_message", "content": content})

    def append(self, item: Any) -> None:
        """Append one item, typed or plain.

        Raises:
            ValueError: it is no trace item.
        """
        self.trace.items.append(item)

    def extend(self, items: Iterable[Any]) -> None:
        """Append items, typed or plain.

        Raises:
            ValueError: one of them is no trace item; none is appended then.
        """
        self.trace.items.extend(items)

    def add_model_response(self, response: ModelResponse) -> None:
        """Append the items of a model's reply, and its output to the raw outputs."""
        self.trace.items.extend(response.items)
        self.raw_outputs.append(response.raw_output)
