import asyncio
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from tasks_lib.models.connections.base import CallFailure, Client
from tasks_lib.models.connections.replay import ReplayConnection
from tests.models.connections.calls import client_of, request, said, send

LINE = {
    "sample_id": "FR",
    "request": {"messages": [{"role": "user", "content": "Capital of France?"}]},
    "reply": {"choices": [{"message": {"role": "assistant", "content": "Paris"}}]},
}


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    file = tmp_path / "recording.jsonl"
    file.write_bytes(orjson.dumps(LINE) + b"\n")
    client = client_of(ReplayConnection(connection_type="replay", file_path=str(file)), "smol")
    yield client
    asyncio.run(client.close())


def test_a_recorded_reply_is_given_again(client: Client):
    assert said(client, "Capital of France?") == "Paris"
    assert client.endpoint.startswith("replay:")


def test_a_miss_is_a_data_error_that_says_how_to_record(client: Client):
    with pytest.raises(CallFailure, match=r"no reply .*'smol'.*ledger export RUN FILE") as failure:
        said(client, "Capital of Spain?")
    assert failure.value.error_class == "data"
    assert not failure.value.retryable


def test_other_parameters_are_another_request(client: Client):
    with pytest.raises(CallFailure, match=r'has \{"temperature":1\}'):
        send(client, request("Capital of France?", temperature=1))
