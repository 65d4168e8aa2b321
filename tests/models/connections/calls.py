"""Calling an open client the way the engine does."""

import asyncio
from typing import Any

import orjson

from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import (
    BaseConnection,
    Client,
    ModelInfo,
)


def client_of(connection: BaseConnection, key: str = "scripted") -> Client:
    info = ModelInfo(key=key, model_key=connection.provider_model)
    return connection.open(info, "/chat/completions", 4, {})


def call_id(sample_id: str = "1", trial: int = 0, ordinal: int = 0) -> CallId:
    return CallId("spec", "solver", sample_id, trial, ordinal)


def request(text: str, **parameters: Any) -> bytes:
    return orjson.dumps(
        {"model": "any", "messages": [{"role": "user", "content": text}], **parameters}
    )


def send(client: Client, body: bytes, call: CallId | None = None) -> dict[str, Any]:
    reply: dict[str, Any] = orjson.loads(asyncio.run(client.send(body, call or call_id())))
    return reply


def said(client: Client, text: str, call: CallId | None = None) -> str:
    content: str = send(client, request(text), call)["choices"][0]["message"]["content"]
    return content
