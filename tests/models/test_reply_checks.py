"""The table of `tasks_lib.models.outputs`, over HTTP."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.models import retries
from tasks_lib.models.ledger import entries
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.scorers.no_answer import no_answer
from tasks_lib.trace import SolverTrace, Trace, output_text
from tests.fake_openai import RunningServer
from tests.fake_openai.config import EXTRA_KINDS, FAULT_KINDS
from tests.models.calling import asked, endpoint, service_of

APIS = {"chat": "latticeflow$openai_chat_completion", "responses": "latticeflow$openai_responses"}

AGAIN = {
    "429": ("infra", r"HTTP 429 \(rate_limit_exceeded\): rate limit reached"),
    "500": ("infra", "HTTP 500: injected server error"),
    "503": ("infra", "HTTP 503"),
    "reset": ("infra", "connection failed: "),
    "truncate": ("infra", "connection failed: "),
    "gzip": ("infra", "the reply can.t be unpacked: "),
    "hang": ("infra", r"no reply within 0\.3 s"),
    "error": ("infra", "the reply holds an error: "),
    "html": ("model", "the reply is no JSON: '<"),
    "half": ("model", "the reply is no JSON: '{"),
    "latin1": ("model", "the reply is no JSON: '{"),
    "nochoices": ("model", "the reply has no (choices|output)"),
    "null": ("model", "the reply (is empty|has no output)"),
}
"""Kinds that are asked for again -> class and words of the error in the end."""

AT_ONCE = {
    "400": "model",
    "401": "infra",
    "402": "infra",
    "403": "infra",
    "404": "infra",
    "quota": "infra",
}
"""Kinds that no second attempt would help -> class of the error."""

SCORED = {
    "plain": ("Paris", None),
    "bom": ("Paris", None),
    "nousage": ("Paris", None),
    "empty": ("", "empty"),
    "length": ("Par", None),
    "cut": ("", "truncated"),
    "filter": ("", "refusal"),
    "refusal": ("I can't help with that.", "refusal"),
    "thoughts": ("", "reasoning_only"),
    "calls": ("", None),
}
"""Kinds that are scored -> the text that is, and why it shows no answer."""


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The adapter; attempts follow one another at once."""
    monkeypatch.setattr(retries, "FIRST_DELAY", 0.01)
    return APIS[request.param]


@pytest.fixture
def server(fake_server: RunningServer) -> RunningServer:
    fake_server.reset(retry_after_s=0.01)
    return fake_server


def ask(store: Path, server: RunningServer, api: str, text: str) -> ModelOutput:
    async def main() -> ModelOutput:
        model = endpoint(server.base_url, adapter={"key": api}, timeout=0.3)
        async with service_of(store, model) as service:
            return await asked(service, f"{text} ANSWER=Paris")

    return asyncio.run(main())


def seen(output: ModelOutput) -> tuple[str, str | None]:
    trace = SolverTrace(Trace.from_items([]), [output.raw])
    return output_text(output.raw) or "", no_answer(trace)


def recorded(store: Path) -> list[Any]:
    return list(entries(store, "run-1"))


@pytest.mark.parametrize("kind", AGAIN)
def test_what_may_pass_is_asked_for_again(
    tmp_path: Path, server: RunningServer, api: str, kind: str
):
    assert seen(ask(tmp_path, server, api, f"FAULT={kind}*2")) == ("Paris", None)
    assert server.stats()["requests"] == 3
    assert len(recorded(tmp_path)) == 1


@pytest.mark.parametrize("kind", AGAIN)
def test_what_does_not_pass_is_an_error_in_the_end(
    tmp_path: Path, server: RunningServer, api: str, kind: str
):
    error_class, words = AGAIN[kind]
    told = rf"^model 'lab': {words}.* \(after 5 attempts\)"
    with pytest.raises(SampleError, match=told) as caught:
        ask(tmp_path, server, api, f"FAULT={kind}")
    assert caught.value.error_class == error_class
    assert server.stats()["requests"] == 5
    assert recorded(tmp_path) == []


@pytest.mark.parametrize("kind", AT_ONCE)
def test_what_cannot_pass_is_an_error_at_once(
    tmp_path: Path, server: RunningServer, api: str, kind: str
):
    with pytest.raises(SampleError) as caught:
        ask(tmp_path, server, api, f"FAULT={kind}")
    assert caught.value.error_class == AT_ONCE[kind]
    assert server.stats()["requests"] == 1
    assert recorded(tmp_path) == []


@pytest.mark.parametrize("kind", SCORED)
def test_what_says_something_is_scored_as_it_is(
    tmp_path: Path, server: RunningServer, api: str, kind: str
):
    output = ask(tmp_path, server, api, f"FAULT={kind}")
    text, reason = SCORED[kind]
    if (api, kind) == (APIS["chat"], "refusal"):
        text = ""  # a field of its own there
    assert seen(output) == (text, reason)
    assert output.counted == (kind != "nousage")
    assert server.stats()["requests"] == 1
    assert len(recorded(tmp_path)) == 1


def test_every_kind_of_fault_has_its_place():
    assert {*FAULT_KINDS, *EXTRA_KINDS} == {*AGAIN, *AT_ONCE, *SCORED}
