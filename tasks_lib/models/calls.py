"""Calling models: adapter, ledger, limiter, client and retries in one path."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models.connections.base import CallContext, CallFailure
from tasks_lib.models.ledger import Entry, call_key
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.models.retries import given_up, next_delay
from tasks_lib.models.service import ModelService, OpenModel


@dataclass(slots=True)
class Calls:
    """The calls of one sample, trial and caller, with what they came to.

    Attributes:
        calls: replies received.
        ledger_hits: of these, from the ledger.
        finish_reason: of the last reply that is no helper's.
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

    @property
    def usage(self) -> dict[str, int]:
        """What the calls came to, as it is stored with a score."""
        return {
            "calls": self.calls,
            "ledger_hits": self.ledger_hits,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
        }

    async def predict(
        self, model_key: str, model_input: Any, *, auxiliary: bool = False
    ) -> ModelOutput:
        """Return the output of model `model_key` for `model_input`.

        Args:
            model_key: a key of the evaluation's models.
            model_input: a chat input (`{"messages": [...]}`) or any JSON a custom model takes.
            auxiliary: the reply is a helper's; its finish reason is not the sample's.

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
        if not auxiliary:
            self.finish_reason = output.finish_reason
        return output

    def _recorded(self, model: OpenModel, key: bytes) -> ModelOutput | None:
        body = self.service.ledger.get(key)
        if body is None:
            return None
        try:
            output = model.adapter.reply(body, model.info)
        except CallFailure:
            return None  # an adapter that is another today finds it malformed: ask again
        self.ledger_hits += 1
        self.service.totals.from_ledger += 1
        return output

    async def _fresh(
        self, model: OpenModel, key: bytes, body: bytes, context: CallContext
    ) -> ModelOutput:
        service = self.service
        attempt = 0
        while True:
            attempt += 1
            try:
                async with model.limiter.turn(again=attempt > 1):
                    service.check_going_on()
                    return await self._attempt(model, key, body, context)
            except CallFailure as failure:
                delay = next_delay(failure, attempt, service.jitter)
                if delay is None:
                    raise given_up(failure, attempt, model.info.key) from None
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
        self.input_tokens += output.input_tokens
        self.output_tokens += output.output_tokens
        totals.total += 1
        totals.input_tokens += output.input_tokens
        totals.output_tokens += output.output_tokens


def _canonical(body: bytes) -> bytes:
    """Return a JSON body with sorted keys, so that the order in the YAML doesn't matter."""
    try:
        return dump_bytes(loads(body), sort_keys=True)
    except ValueError:
        return body
