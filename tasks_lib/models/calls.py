"""Calling models: adapter, ledger, limiter, client and retries in one path."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import dump_bytes, loads
from tasks_lib.models.call_id import CallId
from tasks_lib.models.circuit import HeldBack
from tasks_lib.models.connections.base import CallFailure
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
        cost_usd: the price of the replies, those from the ledger included; None when it is
            not known of all.
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
    cost_usd: float | None = 0.0
    finish_reason: str | None = None
    _seen: Counter[bytes] = field(default_factory=Counter)

    @property
    def usage(self) -> dict[str, int | float | None]:
        """What the calls came to, as it is stored with a score."""
        return {
            "calls": self.calls,
            "ledger_hits": self.ledger_hits,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "cost_usd": self.cost_usd,
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
            OverBudget: it would take a call that the budget does not allow.
            Stopped: the run is being interrupted.
        """
        model = self.service.model(model_key)
        body = model.adapter.request(model_input, model.info, model.parameters)
        canonical = _canonical(body)
        asked = model.identity.encode() + canonical
        ordinal = self._seen[asked]
        self._seen[asked] += 1
        call = CallId(self.spec_key, self.caller, self.sample_id, self.trial, ordinal)
        key = call_key(call, model.identity, canonical)
        output = self._from_ledger(model, key) or await self._ask(model, call, key, body)
        self._count(model_key, output)
        if not auxiliary:
            self.finish_reason = output.finish_reason
        return output

    def _from_ledger(self, model: OpenModel, key: bytes) -> ModelOutput | None:
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

    async def _ask(self, model: OpenModel, call: CallId, key: bytes, body: bytes) -> ModelOutput:
        """Call the model, while it is on probe one of few at a time."""
        circuit = model.circuit
        while True:
            entered = circuit.on_probe
            if entered:
                await circuit.enter(call)
            try:
                return await self._ask_with_retries(model, call, key, body)
            except HeldBack:
                continue
            finally:
                if entered:
                    circuit.leave(call)

    async def _ask_with_retries(
        self, model: OpenModel, call: CallId, key: bytes, body: bytes
    ) -> ModelOutput:
        """Call the model, again where that may help."""
        service, circuit = self.service, model.circuit
        attempt = 0
        while True:
            attempt += 1
            service.spending.check()  # before a turn that may be long in coming, and after
            try:
                async with model.limiter.turn(again=attempt > 1):
                    service.check_going_on()
                    service.spending.check()
                    if circuit.on_probe and attempt == 1:
                        circuit.check_entered(call)
                    return await self._attempt(model, call, key, body)
            except CallFailure as failure:
                delay = next_delay(failure, attempt, service.jitter)
                if delay is None:
                    error = given_up(failure, attempt, model.info.key)
                    circuit.failed(call, error, failure.status)
                    raise error from None
                circuit.stumbled(call, failure, attempt)
            except SampleError as error:  # its author's adapter can't read the reply
                circuit.failed(call, error)
                raise
            service.totals.retries += 1
            await service.pause(delay)

    async def _attempt(
        self, model: OpenModel, call: CallId, key: bytes, body: bytes
    ) -> ModelOutput:
        service = self.service
        service.totals.in_flight += 1
        began = time.perf_counter()
        try:
            reply = await model.client.send(body, call)
            output = self._read(model, body, reply)
            if model.circuit.watching:
                model.circuit.replied(call, output, body)
            took = time.perf_counter() - began
            # still inside the limiter: a reply counts as in flight until it is durable
            await service.ledger.put(
                Entry(key, call, model.info.key, time.time(), took, body, reply)
            )
            return output
        finally:
            service.totals.in_flight -= 1

    def _read(self, model: OpenModel, body: bytes, reply: bytes) -> ModelOutput:
        """Return the output of a reply, which is paid for whether or not it is usable."""
        spending = self.service.spending
        try:
            output = model.adapter.reply(reply, model.info)
        except SampleError:
            spending.pay_in_vain(model.info.key, reply)
            raise
        spending.pay(model.info.key, output, body, reply)
        return output

    def _count(self, model_key: str, output: ModelOutput) -> None:
        totals = self.service.totals
        cost = self.service.spending.cost(model_key, output)
        self.cost_usd = None if cost is None or self.cost_usd is None else self.cost_usd + cost
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
