"""What the tests share: the fake model server, files, the command line, a Prefect server."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from textwrap import dedent

import hypothesis
import pytest

from flows.server import ServerHome, ServerInfo, ensure_server, stop_server
from tests.command_line import CommandLine
from tests.engine import Engine
from tests.environment import is_foreign
from tests.fake_openai import RunningServer, serve_in_process, serve_in_thread

hypothesis.settings.register_profile(
    "evalmill",
    deadline=None,
    max_examples=60,
    derandomize="CI" in os.environ,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("evalmill")


def pytest_configure(config: pytest.Config) -> None:
    """Let nothing of the developer's environment in; all tests share one home of ours."""
    if hasattr(config, "workerinput"):
        return  # a worker of pytest-xdist inherits what its starter made
    for name in filter(is_foreign, list(os.environ)):
        del os.environ[name]
    home = Path(tempfile.mkdtemp(prefix="evalmill-tests-"))
    os.environ["EVALMILL_HOME"] = str(home / "evalmill")
    os.environ["PREFECT_HOME"] = str(home / "prefect")
    # Should the tests be killed, their server ends by itself soon.
    os.environ["EVALMILL_SERVER_IDLE_SECONDS"] = "600"


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the tests' Prefect server and remove their home."""
    if hasattr(config, "workerinput"):
        return
    home = Path(os.environ["EVALMILL_HOME"])
    stop_server(ServerHome(home))
    shutil.rmtree(home.parent, ignore_errors=True)


@pytest.fixture(scope="session")
def _fake_server_thread() -> Iterator[RunningServer]:
    with serve_in_thread() as server:
        yield server


@pytest.fixture
def fake_server(_fake_server_thread: RunningServer) -> RunningServer:
    """A fake model server in a thread; as new for every test, and nothing learnt of it."""
    _fake_server_thread.renew()
    shutil.rmtree(Path(os.environ["EVALMILL_HOME"]) / "limits", ignore_errors=True)
    return _fake_server_thread


@pytest.fixture
def fake_server_process() -> Iterator[RunningServer]:
    """A fake model server in a process of its own, started for this test."""
    with serve_in_process() as server:
        yield server


@pytest.fixture
def write_files(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """A function that writes `{relative path: text}` and returns the folder.

    Text is dedented, so that it can be written as an indented block.
    """

    def write(files: Mapping[str, str | bytes]) -> Path:
        folder = tmp_path / "files"
        folder.mkdir(exist_ok=True)
        for name, content in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, str):
                content = dedent(content).removeprefix("\n").encode()
            file.write_bytes(content)
        return folder

    return write


@pytest.fixture
def evalmill(tmp_path: Path) -> CommandLine:
    """The real command line, as processes with a store of this test.

    Its home, and so its Prefect server, is the one all tests share.
    """
    return CommandLine(folder=tmp_path, store=tmp_path / "store")


@pytest.fixture(scope="session")
def prefect_server() -> ServerInfo:
    """The Prefect server that all tests share, started when a test first asks for it.

    `.url` is fit for PREFECT_API_URL, which is not set.
    """
    return ensure_server(timeout=180)


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    """Whole runs in this process, of definitions written as Python values."""
    return Engine(tmp_path)
