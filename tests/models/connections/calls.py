"""Calling an open client the way the engine does."""

import asyncio
from typing import Any

import orjson

from tasks_lib.models.connections.base import (
    BaseConnection,
    CallContext,
    Client,
    ModelInfo,
)


def client_of(connection: BaseConnection, key: str = "scripted") -> Client:
    info = ModelInfo(key=key, model_key=connection.provider_model)
    return connection.open(info, "/chat/completions", 4, {})


def context(sample_id: str = "1", trial: int = 0, ordinal: int = 0) -> CallContext:
    return CallContext(sample_id=sample_id, trial=trial, caller="solver", ordinal=ordinal)


def request(text: str, **parameters: Any) -> bytes:
    return orjson.dumps(
        {"model": "any", "messages": [{"role": "user", "content": text}], **parameters}
    )


def send(client: Client, body: bytes, call: CallContext | None = None) -> dict[str, Any]:
    reply: dict[str, Any] = orjson.loads(asyncio.run(client.send(body, call or context())))
    return reply


def said(client: Client, text: str, call: CallContext | None = None) -> str:
    content: str = send(client, request(text), call)["choices"][0]["message"]["content"]
    return content
