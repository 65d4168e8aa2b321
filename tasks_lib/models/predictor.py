"""The way to models, as solvers and scorers see it."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from tasks_lib.models.outputs import ModelOutput


class Predictor(Protocol):
    """Calls models for one sample, trial and caller."""

    async def predict(
        self, model_key: str, model_input: Any, *, auxiliary: bool = False
    ) -> ModelOutput:
        """Return the model's output, from the ledger or fresh.

        Args:
            model_key: a key of the evaluation's models.
            model_input: a chat input (`{"messages": [...]}`), or any JSON a custom model takes.
            auxiliary: the reply is a helper's, such as a simulated user's, and says nothing
                about how the sample was answered.

        Raises:
            SampleError: no usable reply.
        """


class _FirstCall(Exception):
    """Carries the input of a call away from whoever wanted to make it."""

    def __init__(self, model_input: Any) -> None:
        super().__init__(model_input)
        self.model_input = model_input


class _Stop:
    """Ends everything at the first call instead of making it."""

    async def predict(
        self, model_key: str, model_input: Any, *, auxiliary: bool = False
    ) -> ModelOutput:
        raise _FirstCall(model_input)


def input_of_first_call(asking: Callable[[Predictor], Coroutine[Any, Any, Any]]) -> Any:
    """Return the model input of the first call that a coroutine would make; makes none.

    Args:
        asking: returns the coroutine that makes its calls by this predictor.

    Returns:
        None when it ended without a call.
    """
    try:
        asyncio.run(asking(_Stop()))
    except _FirstCall as call:
        return call.model_input
    return None
