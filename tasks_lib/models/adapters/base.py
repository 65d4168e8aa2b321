"""What an adapter is: how one kind of endpoint is talked to."""

from collections.abc import Mapping
from typing import Any, Protocol

from tasks_lib.errors import SampleError, bounded
from tasks_lib.models.connections.base import ModelInfo
from tasks_lib.models.outputs import ModelOutput


class Adapter(Protocol):
    """Shapes the traffic with one kind of endpoint."""

    @property
    def path(self) -> str:
        """What is appended to a base URL to reach the API; empty when there is none."""

    def request(self, model_input: Any, info: ModelInfo, parameters: Mapping[str, Any]) -> bytes:
        """Return the body to send; a key of the input wins over the model's parameters."""

    def reply(self, body: bytes, info: ModelInfo) -> ModelOutput:
        """Return the model output of a reply.

        Raises:
            CallFailure: the reply is malformed.
        """


def chat_input(model_input: Any) -> dict[str, Any]:
    """Return a model input that is an object, as chat APIs need.

    Raises:
        SampleError: it is something else.
    """
    if not isinstance(model_input, dict):
        raise SampleError(
            "data",
            f"the model input is {bounded(repr(model_input), 80)}, not an object with 'messages'",
            fix="make it one, or give the model the adapter 'latticeflow$identity'",
        )
    return model_input
