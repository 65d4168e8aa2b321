"""The way to models, as solvers and scorers see it."""

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
