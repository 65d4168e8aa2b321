"""The models of a run: opened once, limited, closed at its end."""

import asyncio
import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.definitions.model import Model
from tasks_lib.errors import CircuitError, DefinitionError, Stopped
from tasks_lib.home import evalmill_home
from tasks_lib.models.adapters import BUILT_IN, Adapter, TemplateAdapter
from tasks_lib.models.circuit import Circuit, FailedCall
from tasks_lib.models.connections.base import Client, ModelInfo
from tasks_lib.models.connections.http import HttpClient
from tasks_lib.models.ledger import Ledger
from tasks_lib.models.limits.limiter import Limiter
from tasks_lib.models.limits.shared import SharedState, endpoint_folder
from tasks_lib.models.spending import Spending
from tasks_lib.templates import compile_template

DEFAULT_CONCURRENCY = 10
_STOP_CHECK_SECONDS = 0.25


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
    circuit: Circuit
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
        preflight: whether a model that gives no usable reply ends the run.
        spending: what calls cost, and the budget; None knows no price.

    Attributes:
        cause: why the run was stopped, when a model was the reason.
        failed_calls: the calls that showed it.
        on_notice: told what a user should know early; from the model loop's thread.
    """

    def __init__(
        self,
        models: Mapping[str, Model],
        adapters: Mapping[str, ModelAdapter],
        secrets: Mapping[str, str],
        ledger: Ledger,
        max_connections: int | None = None,
        preflight: bool = True,
        spending: Spending | None = None,
    ) -> None:
        self.totals = CallTotals()
        self.spending = spending or Spending({})
        self.cause: CircuitError | None = None
        self.failed_calls: list[FailedCall] = []
        self.on_notice: Callable[[str], None] = _ignore
        self.ledger = ledger
        self._models = models
        self._adapters = adapters
        self._secrets = secrets
        self._max_connections = max_connections
        self._preflight = preflight
        self._open: dict[str, OpenModel] = {}
        self._limiters: dict[str, Limiter] = {}
        self.jitter = random.Random()
        self._stopping = threading.Event()

    def signs_of_life(self) -> tuple[int, int]:
        """Return what changes whenever a call, or an attempt of one, comes to an end."""
        return self.totals.total, self.totals.retries

    def concurrency(self, model_key: str) -> int:
        """Calls of `model_key` that may be in flight at a time."""
        return allowed_concurrency(self._models[model_key], self._max_connections)

    def stop(self) -> None:
        """Let no new call or retry start; calls in flight go on. From any thread."""
        self._stopping.set()

    @property
    def stopping(self) -> bool:
        """Whether `stop` was called."""
        return self._stopping.is_set()

    def check_going_on(self) -> None:
        """Raise when no new call may start.

        Raises:
            Stopped: the run is being interrupted.
            StoreError: a reply couldn't be recorded, and no other could.
        """
        if self.stopping:
            raise Stopped
        self.ledger.check_recording()

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
        info = ModelInfo(key, connection.provider_model, model.task, timeout=model.timeout)
        adapter = self._adapter(connection.adapter_key, key)
        concurrency = allowed_concurrency(model, self._max_connections)
        secrets = {**self._secrets, **(model.secrets or {})}
        try:
            client = connection.open(info, adapter.path, concurrency, secrets)
        except DefinitionError as error:
            where = f"model '{key}': {error.where}" if error.where else f"model '{key}'"
            raise DefinitionError(error.problem, where, error.fix) from None
        identity = f"{client.endpoint} {info.model_key}"
        limiter = self._limiter(identity, model, concurrency, client)
        circuit = Circuit(key, self._break_off, self._tell, self._preflight)
        return OpenModel(info, adapter, model.parameters, limiter, circuit, client, identity)

    def _tell(self, words: str) -> None:
        self.on_notice(words)

    def _break_off(self, cause: CircuitError, calls: list[FailedCall]) -> None:
        """Stop the run because of a model."""
        if not self.stopping:
            self.cause, self.failed_calls = cause, calls
            self.stop()

    def _limiter(self, identity: str, model: Model, concurrency: int, client: Client) -> Limiter:
        """The limiter of an endpoint and model, whatever keys the evaluation has for them."""
        limiter = self._limiters.get(identity)
        if limiter is None:
            over_http = isinstance(client, HttpClient)
            folder = endpoint_folder(evalmill_home(), identity) if over_http else None
            limiter = self._limiters[identity] = Limiter(
                concurrency,
                model.rate_limit,
                self.check_going_on,
                SharedState(folder, asyncio.get_running_loop().time()),
                model.max_concurrent_requests,
            )
        else:
            limiter.tighten(concurrency, model.rate_limit, model.max_concurrent_requests)
        if isinstance(client, HttpClient):
            client.on_quota = limiter.heed
        return limiter

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
        """Sleep before a call or a retry.

        Raises:
            Stopped: the run was interrupted, at the latest a moment ago.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + seconds
        while (left := deadline - clock()) > 0:
            self.check_going_on()
            await asyncio.sleep(min(left, _STOP_CHECK_SECONDS))
        self.check_going_on()

    async def close(self) -> None:
        """Close clients and ledger."""
        try:
            for opened in self._open.values():
                await opened.client.close()
            for limiter in self._limiters.values():
                limiter.close()
        finally:
            self._open.clear()
            self._limiters.clear()
            self.ledger.close()


def _ignore(words: str) -> None:
    """Tell nobody."""
