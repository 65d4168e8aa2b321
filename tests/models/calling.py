"""Model services as a run opens them."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.model import Model
from tasks_lib.models.calls import Calls
from tasks_lib.models.ledger import CachePolicy, Ledger
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.service import ModelService

CHAT = {"key": "latticeflow$openai_chat_completion"}


def endpoint(url: str, key: str = "lab", model_key: str = "m", **fields: Any) -> Model:
    """A chat model behind `url`; fields that a connection has go there."""
    connection = {"url": url, "model_key": model_key, "adapter": CHAT}
    for name in ("api_key", "custom_headers", "adapter", "tls_context"):
        if name in fields:
            connection[name] = fields.pop(name)
    return Model.model_validate({"key": key, "display_name": key, "config": connection, **fields})


@asynccontextmanager
async def service_of(
    store: Path,
    *models: Model,
    run_id: str = "run-1",
    policy: CachePolicy = "reuse",
    adapters: Mapping[str, ModelAdapter] | None = None,
    secrets: Mapping[str, str] | None = None,
    max_connections: int | None = None,
) -> AsyncIterator[ModelService]:
    service = ModelService(
        {model.key: model for model in models},
        adapters or {},
        secrets or {},
        Ledger(store, run_id, policy),
        max_connections,
    )
    try:
        yield service
    finally:
        await service.close()


def calls_of(service: ModelService, sample_id: str = "1", trial: int = 0) -> Calls:
    return Calls(service, "spec", "solver", sample_id, trial)


async def asked(
    service: ModelService, text: str, key: str = "lab", sample_id: str = "1", **parameters: Any
) -> ModelOutput:
    """The model's output for one user message, of a sample of its own calls."""
    messages = [{"role": "user", "content": text}]
    return await calls_of(service, sample_id).predict(key, {"messages": messages, **parameters})


def said(output: ModelOutput) -> str:
    content: str = output.raw["choices"][0]["message"]["content"]
    return content
