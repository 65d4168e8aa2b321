"""What the tests share: the fake model server, files, the command line, a Prefect server."""

from collections.abc import Iterator

import pytest

from tests.fake_openai import RunningServer, serve_in_thread


@pytest.fixture(scope="session")
def _fake_server_thread() -> Iterator[RunningServer]:
    with serve_in_thread() as server:
        yield server


@pytest.fixture
def fake_server(_fake_server_thread: RunningServer) -> RunningServer:
    """A fake model server in a thread; counters and options are as new for every test."""
    _fake_server_thread.renew()
    return _fake_server_thread
