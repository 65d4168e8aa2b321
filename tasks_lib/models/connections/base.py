"""What a connection is: how the body of a request reaches a model and its reply comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Protocol

from tasks_lib.base import Definition
from tasks_lib.errors import ErrorClass, SampleError
from tasks_lib.models.call_id import CallId

REQUEST_TIMEOUT = 120.0
"""Seconds for one attempt when a model says nothing else; waiting for a turn not counted."""


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """What adapters and connections know of the model they serve.

    Attributes:
        key: the model's key in the evaluation.
        model_key: the provider's own name of it, sent in requests; empty when unknown.
        task: `chat_completion`, `embeddings` or `custom`.
        timeout: seconds that one attempt of a call may take.
    """

    key: str
    model_key: str
    task: str = "chat_completion"
    modality: str = "text"
    timeout: float = REQUEST_TIMEOUT


class CallFailure(SampleError):
    """A call that brought no usable reply.

    Args:
        retryable: whether the same call may succeed later.
        retry_after: seconds the server asked to wait; None when it did not say.
        status: HTTP status; 0 when there was no HTTP reply.
        unanswered: whether no server was found, or nothing came from it in time.
        fix: what to do about it.
    """

    def __init__(
        self,
        error_class: ErrorClass,
        problem: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        status: int = 0,
        unanswered: bool = False,
        fix: str = "",
    ) -> None:
        super().__init__(error_class, problem, fix=fix)
        self.retryable = retryable
        self.retry_after = retry_after
        self.status = status
        self.unanswered = unanswered

    def __reduce__(self) -> tuple[object, tuple[str, str], dict[str, object]]:
        return _rebuild, (self.error_class, self.problem), dict(self.__dict__)


def _rebuild(error_class: ErrorClass, problem: str) -> CallFailure:
    return CallFailure(error_class, problem)


class Client(Protocol):
    """An open connection to one model; lives on the model loop, shared by all its calls."""

    @property
    def endpoint(self) -> str:
        """Where calls go, without secrets; part of the ledger's key."""

    async def send(self, body: bytes, call: CallId) -> bytes:
        """Return the reply's body for one request body.

        Args:
            body: the request's.
            call: whose it is; offline connections answer by it, none sends it anywhere.

        Raises:
            CallFailure: no reply, or one with an error status.
        """

    async def close(self) -> None:
        """Free sockets and memory."""


class BaseConnection(Definition):
    """A way to reach a model; members are listed in `connections/__init__.py`."""

    default_adapter: ClassVar[str] = "latticeflow$openai_chat_completion"
    """Key of the adapter used when the model names none."""

    serial: ClassVar[bool] = False
    """Whether it can only answer one call at a time."""

    @property
    def adapter_key(self) -> str:
        """Key of the adapter that shapes requests and replies."""
        return self.default_adapter

    @property
    def provider_model(self) -> str:
        """The model's name on the other side; empty when the connection has none."""
        return ""

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> Client:
        """Make the client; called on the model loop, before the first call that needs it.

        Args:
            info: the model served.
            path: what the adapter's API appends to a base URL, such as `/chat/completions`.
            concurrency: calls in flight at most, for the size of a pool.
            secrets: the file's secrets, as written; reveal them with `secrets.reveal`.
        """
        raise TypeError(f"{type(self).__name__} does not say how it is opened")
