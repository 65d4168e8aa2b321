"""The server's state and its answers."""

import asyncio
import dataclasses
import json
import math
import re
import statistics
import time
from collections import deque
from collections.abc import Mapping
from typing import Final

from tests.fake_openai.chat import chat_body, chat_events
from tests.fake_openai.config import (
    CREATED,
    EXTRA_KINDS,
    FAULT_KINDS,
    Config,
    Json,
    body_digest,
    draw,
    drawn_fault,
)
from tests.fake_openai.connection import Connection
from tests.fake_openai.faults import spoilt
from tests.fake_openai.replies import Prompt, make_answer, read_prompt
from tests.fake_openai.responses import response_events, response_object
from tests.fake_openai.stats import Stats
from tests.fake_openai.wire import Reply, Then, error, error_body, http, http_stream

_FAULT: Final = re.compile(r"FAULT=([a-z0-9]+)(?:\*(\d+))?")


class FakeOpenAI:
    """The server's state and its answers; `start` binds it to a port."""

    def __init__(self, config: Config | None = None) -> None:
        self.config = config or Config()
        self.stats = Stats()
        self.loop: asyncio.AbstractEventLoop
        self.transports: set[asyncio.Transport] = set()
        self._fault_table = self.config.fault_table()
        self._taken: deque[float] = deque()

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> asyncio.Server:
        """Listen on a port; 0 takes a free one."""
        self.loop = asyncio.get_running_loop()
        return await self.loop.create_server(
            lambda: Connection(self), host, port, backlog=4096, reuse_address=True
        )

    def answer(self, method: bytes, target: bytes, body: bytes) -> tuple[Reply, float]:
        """The reply to one request and the seconds to wait before it."""
        path = target.partition(b"?")[0]
        match method, path:
            case b"POST", b"/v1/chat/completions" | b"/v1/responses":
                return self._model_call(path, body)
            case b"GET", b"/v1/models":
                return _json(self._models()), 0.0
            case b"GET", b"/stats":
                return _json(self.stats.as_json()), 0.0
            case b"POST", b"/reset":
                return self._reset(body), 0.0
            case _, (
                b"/v1/chat/completions" | b"/v1/responses" | b"/v1/models" | b"/stats" | b"/reset"
            ):
                return error(405, "method not allowed"), 0.0
        return error(404, f"no route {path.decode('latin-1')}"), 0.0

    def _models(self) -> Json:
        data = [
            {"id": name.strip(), "object": "model", "created": CREATED, "owned_by": "fake"}
            for name in self.config.models.split(",")
        ]
        return {"object": "list", "data": data}

    def _reset(self, body: bytes) -> Reply:
        try:
            changes = json.loads(body) if body.strip() else {}
            config = dataclasses.replace(self.config, **changes)
        except (TypeError, ValueError) as problem:
            return error(400, str(problem))
        old = self.stats
        self.config, self._fault_table = config, config.fault_table()
        self.stats = Stats(
            in_flight=old.in_flight,
            max_in_flight=old.in_flight,
            connections=old.connections,
            max_connections=old.connections,
        )
        return _json(old.as_json())

    def _model_call(self, path: bytes, body: bytes) -> tuple[Reply, float]:
        config = self.config
        digest = body_digest(body)
        arrival = self._count(path, digest)
        delay = self._delay(digest, arrival)
        if config.max_in_flight and self.stats.in_flight >= config.max_in_flight:
            return self._rate_limited(), 0.0
        if config.max_per_second and not self._takes(config.max_per_second):
            return self._rate_limited(), 0.0
        responses_api = path == b"/v1/responses"
        try:
            request = json.loads(body)
            if not isinstance(request, dict):
                raise ValueError("the body must be a JSON object")
            prompt = read_prompt(request, responses_api)
            fault = self._fault(digest, arrival, prompt)
            match fault:
                case "429":
                    return self._rate_limited(), delay
                case "500":
                    return error(500, "injected server error", "server_error"), delay
                case "reset":
                    return Reply(b"", "reset", Then.RESET), delay
                case "hang":
                    return Reply(b"", "hang", Then.HANG), config.hang_s
            payload = self._reply(request, prompt, responses_api, digest.hex(), fault == "null")
            if fault in EXTRA_KINDS:
                return spoilt(fault, payload, responses_api), delay
        except (ValueError, TypeError, AttributeError, KeyError, IndexError) as problem:
            return error(400, f"bad request: {problem}"), delay
        if fault == "truncate":
            head = payload.index(b"\r\n\r\n") + 4
            half = payload[: (head + len(payload)) // 2]
            return Reply(half, "truncate", Then.CLOSE), delay
        return Reply(payload, "200"), delay

    def _takes(self, per_second: int) -> bool:
        """Take one more request, unless the last second has seen enough."""
        now = time.monotonic()
        while self._taken and self._taken[0] <= now - 1.0:
            self._taken.popleft()
        if len(self._taken) >= per_second:
            return False
        self._taken.append(now)
        return True

    def _count(self, path: bytes, digest: bytes) -> int:
        """Count a model call; return how often the same body had arrived before."""
        stats, now = self.stats, time.time()
        arrival = stats.arrivals.get(digest, 0)
        stats.arrivals[digest] = arrival + 1
        if stats.first_request_at is None:
            stats.first_request_at = now
        stats.last_request_at = now
        stats.requests += 1
        stats.paths[path.decode()] += 1
        return arrival

    def _delay(self, digest: bytes, arrival: int) -> float:
        """Seconds before the reply, the same for the same arrival of a body."""
        delay = self.config.latency_ms / 1000.0
        if delay and self.config.jitter:
            share = draw(self.config.seed, b"jitter%d" % arrival, digest)
            spread = statistics.NormalDist().inv_cdf(min(max(share, 1e-12), 1 - 1e-12))
            delay *= math.exp(self.config.jitter * spread)
        return delay

    def _reply(
        self,
        request: Mapping[str, Json],
        prompt: Prompt,
        responses_api: bool,
        rid: str,
        null: bool,
    ) -> bytes:
        answer = make_answer(request, prompt, self.config, responses_api, null)
        self.stats.prompt_tokens += answer.tokens[0]
        self.stats.completion_tokens += answer.tokens[1]
        header = f"x-request-id: req_{rid}\r\n"
        if responses_api:
            final = response_object(request, rid, answer)
            if request.get("stream"):
                return http_stream(response_events(final), header)
            return http(200, json.dumps(final).encode(), header)
        if request.get("stream"):
            return http_stream(chat_events(request, rid, answer), header)
        return http(200, chat_body(request, rid, answer), header)

    def _fault(self, digest: bytes, arrival: int, prompt: Prompt) -> str | None:
        """The fault of this arrival of this body, if any."""
        config = self.config
        kind: str | None = None
        if "FAULT=" in prompt.user and (match := _FAULT.search(prompt.user)):
            if match[1] not in FAULT_KINDS and match[1] not in EXTRA_KINDS:
                raise ValueError(f"unknown fault {match[1]!r}")
            if match[2] is None or arrival < int(match[2]):
                kind = match[1]
        elif config.fault_rate:
            kind = drawn_fault(config, self._fault_table, digest, arrival)
        if kind is not None:
            self.stats.faults[kind] += 1
        return kind

    def _rate_limited(self) -> Reply:
        wait = self.config.retry_after_s
        headers = f"retry-after: {math.ceil(wait)}\r\nretry-after-ms: {round(wait * 1000)}\r\n"
        text = error_body("rate limit reached", "requests", "rate_limit_exceeded")
        return Reply(http(429, text, headers), "429")


def _json(value: Json) -> Reply:
    return Reply(http(200, json.dumps(value).encode()), "200")
