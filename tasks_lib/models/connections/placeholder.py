"""`placeholder`: performs no inference and answers with empty text."""

from collections.abc import Mapping
from typing import Literal

from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import BaseConnection, ModelInfo

_EMPTY = (
    b'{"choices":[{"message":{"role":"assistant","content":""},"finish_reason":"stop"}],'
    b'"usage":{"prompt_tokens":0,"completion_tokens":0}}'
)


class _EmptyClient:
    endpoint = "placeholder:"

    async def send(self, body: bytes, call: CallId) -> bytes:
        return _EMPTY

    async def close(self) -> None:
        return None


class PlaceholderConnection(BaseConnection):
    """Stands where a model will be; every reply is empty text."""

    connection_type: Literal["placeholder"]

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> _EmptyClient:
        return _EmptyClient()
