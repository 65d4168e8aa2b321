"""Calling models: adapter, ledger, limiter, client and retries in one path."""

import asyncio
import random
import threading
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError, SampleError
from tasks_lib.jsontext import dump_bytes
from tasks_lib.models.adapters import BUILT_IN, Adapter, TemplateAdapter
from tasks_lib.models.connections.base import CallContext, CallFailure, Client, ModelInfo
from tasks_lib.models.ledger import Entry, Ledger, call_key
from tasks_lib.models.limiter import Limiter
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.retries import final_words, next_delay
from tasks_lib.templates import compile_template

DEFAULT_CONCURRENCY = 10


class Stopped(Exception):
    """The run is being interrupted; no new call may start."""


def allowed_concurrency(model: Model, max_connections: int | None) -> int:
    """Return how many calls of `model` may be in flight: the least of what is said of it."""
    if model.config.serial:
        return 1
    limits = [n for n in (model.max_concurrent_requests, max_connections) if n]
    return min(limits) if limits else DEFAULT_CONCURRENCY


@dataclass(slots=True)
class CallTotals:
    """What the calls of a run came to; changed on the model loop only.

    Attributes:
        total: calls that gave a reply, from wherever.
        from_ledger: of these, answered by the ledger.
        input_tokens: prompt tokens of all replies.
        output_tokens: completion tokens of all replies.
        retries: attempts beyond the first.
        in_flight: attempts under way.
    """

    total: int = 0
    from_ledger: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    retries: int = 0
    in_flight: int = 0


@dataclass(frozen=True, slots=True)
class OpenModel:
    """A model ready to be called."""

    info: ModelInfo
    adapter: Adapter
    parameters: Mapping[str, Any]
    limiter: Limiter
    client: Client
    identity: str
    """Endpoint and model, as the ledger's key holds them."""


class ModelService:
    """All models of one run; its methods but `stop` belong to the model loop.

    Args:
        models: by key, every model that may be called.
        adapters: by key, the declared ones.
        secrets: name -> reference, as written in the files.
        ledger: where replies are recorded and found again.
        max_connections: calls in flight of one model at most; None leaves it to the model.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        adapters: Mapping[str, ModelAdapter],
        secrets: Mapping[str, str],
        ledger: Ledger,
        max_connections: int | None = None,
    ) -> None:
        self.totals = CallTotals()
        self.ledger = ledger
        self._models = models
        self._adapters = adapters
        self._secrets = secrets
        self._max_connections = max_connections
        self._open: dict[str, OpenModel] = {}
        self._jitter = random.Random()
        self._stopping = threading.Event()

    def stop(self) -> None:
        """Let no new call or retry start; calls in flight go on. From any thread."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping.is_set()

    def model(self, key: str) -> OpenModel:
        """Return the model `key`, opened at its first use.

        Raises:
            DefinitionError: unknown key, a missing secret, or settings that can't work.
        """
        opened = self._open.get(key)
        if opened is None:
            opened = self._open[key] = self._make(key)
        return opened

    def _make(self, key: str) -> OpenModel:
        model = self._models.get(key)
        if model is None:
            raise DefinitionError(f"model '{key}' is not declared", fix="add it under 'models:'")
        connection = model.config
        info = ModelInfo(key, connection.provider_model, model.task)
        adapter = self._adapter(connection.adapter_key, key)
        concurrency = allowed_concurrency(model, self._max_connections)
        secrets = {**self._secrets, **(model.secrets or {})}
        client = connection.open(info, adapter.path, concurrency, secrets)
        return OpenModel(
            info,
            adapter,
            model.parameters,
            Limiter(concurrency, model.rate_limit),
            client,
            f"{client.endpoint} {info.model_key}",
        )

    def _adapter(self, adapter_key: str, model_key: str) -> Adapter:
        if adapter_key in BUILT_IN:
            return BUILT_IN[adapter_key]
        declared = self._adapters.get(adapter_key)
        if declared is None:
            raise DefinitionError(
                f"model '{model_key}' uses adapter '{adapter_key}', which is not declared",
                fix=f"declare it under 'model_adapters:', or use one of {', '.join(BUILT_IN)}",
            )
        return TemplateAdapter(
            compile_template(declared.process_input.source_code, f"{adapter_key} process_input"),
            compile_template(declared.process_output.source_code, f"{adapter_key} process_output"),
        )

    async def pause(self, seconds: float) -> None:
        """Sleep before a retry, woken early when the run stops."""
        deadline = time.monotonic() + seconds
        while not self.stopping and (left := deadline - time.monotonic()) > 0:
            await asyncio.sleep(min(left, 0.25))

    async def close(self) -> None:
        """Close clients and ledger."""
        for opened in self._open.values():
            await opened.client.close()
        self._open.clear()
        self.ledger.close()


@dataclass(slots=True)
class Calls:
    """The calls of one sample, trial and caller, with what they came to.

    Attributes:
        calls: replies received.
        ledger_hits: of these, from the ledger.
        finish_reason: of the last reply.
    """

    service: ModelService
    spec_key: str
    caller: str
    sample_id: str
    trial: int
    calls: int = 0
    ledger_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    finish_reason: str | None = None
    _seen: Counter[bytes] = field(default_factory=Counter)

    async def predict(self, model_key: str, model_input: Any) -> ModelOutput:
        """Return the output of model `model_key` for `model_input`.

        Args:
            model_key: a key of the evaluation's models.
            model_input: a chat input (`{"messages": [...]}`) or any JSON a custom model takes.

        Raises:
            SampleError: no usable reply after all attempts.
            Stopped: the run is being interrupted.
        """
        model = self.service.model(model_key)
        body = model.adapter.request(model_input, model.info, model.parameters)
        canonical = _canonical(body)
        identity = model.identity.encode() + canonical
        ordinal = self._seen[identity]
        self._seen[identity] += 1
        key = call_key(
            self.spec_key,
            self.caller,
            model.identity,
            canonical,
            self.sample_id,
            self.trial,
            ordinal,
        )
        output = self._recorded(model, key)
        if output is None:
            context = CallContext(self.sample_id, self.trial, self.caller, ordinal)
            output = await self._fresh(model, key, body, context)
        self._count(output)
        return output

    def _recorded(self, model: OpenModel, key: bytes) -> ModelOutput | None:
        found = self.service.ledger.get(key)
        if found is None:
            return None
        self.ledger_hits += 1
        self.service.totals.from_ledger += 1
        return model.adapter.reply(found[0], model.info)

    async def _fresh(
        self, model: OpenModel, key: bytes, body: bytes, context: CallContext
    ) -> ModelOutput:
        service = self.service
        attempt = 0
        while True:
            if service.stopping:
                raise Stopped
            attempt += 1
            try:
                async with model.limiter:
                    if service.stopping:
                        raise Stopped
                    return await self._attempt(model, key, body, context)
            except CallFailure as failure:
                delay = next_delay(failure, attempt, service._jitter)
                if delay is None:
                    raise SampleError(
                        failure.error_class, final_words(failure, attempt)
                    ) from None
            service.totals.retries += 1
            await service.pause(delay)

    async def _attempt(
        self, model: OpenModel, key: bytes, body: bytes, context: CallContext
    ) -> ModelOutput:
        totals = self.service.totals
        totals.in_flight += 1
        began = time.perf_counter()
        try:
            reply = await model.client.send(body, context)
            output = model.adapter.reply(reply, model.info)
            # still inside the limiter: a reply counts as in flight until it is durable
            await self.service.ledger.put(
                Entry(
                    key,
                    self.spec_key,
                    self.caller,
                    self.sample_id,
                    self.trial,
                    context.ordinal,
                    model.info.key,
                    time.time(),
                    time.perf_counter() - began,
                    body,
                    reply,
                )
            )
            return output
        finally:
            totals.in_flight -= 1

    def _count(self, output: ModelOutput) -> None:
        totals = self.service.totals
        self.calls += 1
        self.finish_reason = output.finish_reason
        self.input_tokens += output.input_tokens
        self.output_tokens += output.output_tokens
        totals.total += 1
        totals.input_tokens += output.input_tokens
        totals.output_tokens += output.output_tokens


def _canonical(body: bytes) -> bytes:
    """Return a JSON body with sorted keys, so that the order in the YAML doesn't matter."""
    try:
        return dump_bytes(orjson.loads(body), sort_keys=True)
    except orjson.JSONDecodeError:
        return body
