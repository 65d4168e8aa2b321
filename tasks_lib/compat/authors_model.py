"""The evaluated model as an author's `run_solver` sees it."""

from collections.abc import Awaitable, Callable
from typing import Any

from tasks_lib.trace import ModelResponse, output_items
from tasks_lib.trace.conversions import to_model_input
from tasks_lib.trace.plain import raw_of


class AuthorsModel:
    """Calls the evaluated model.

    Args:
        ask: sends a model input and returns the output as plain JSON.
    """

    def __init__(self, ask: Callable[[Any], Awaitable[Any]]) -> None:
        self._ask = ask

    async def predict(self, inputs: Any, **options: Any) -> ModelResponse:
        """Return the model's reply; nothing is appended to the trace.

        Args:
            inputs: trace items, a list of chat messages, a chat input, or any JSON that a
                custom model takes.
            options: added to a chat input, such as `response_format`.

        Raises:
            SampleError: no usable reply.
        """
        model_input = to_model_input(inputs)
        if options and isinstance(model_input, dict):
            given = {name: raw_of(value) for name, value in options.items()}
            model_input = {**model_input, **given}
        raw = await self._ask(model_input)
        return ModelResponse(raw_output=raw, items=output_items(raw))
