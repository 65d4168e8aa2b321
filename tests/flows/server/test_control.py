"""The local server is started once, outlives its starter, and never holds anything up."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.server import (
    ServerHome,
    ServerInfo,
    ServerUnavailable,
    ensure_server,
    is_healthy,
    server_status,
    stop_server,
)

START_SECONDS = 180


@pytest.fixture
def home(prefect_server: ServerInfo, tmp_path: Path) -> Iterator[ServerHome]:
    """A home of its own, with the database template that the tests' server has made."""
    home = ServerHome(tmp_path / "home")
    home.prefect_home.mkdir(parents=True)
    template = f"template-{prefect_server.prefect}.db"
    shutil.copyfile(ServerHome.default().prefect_home / template, home.prefect_home / template)
    yield home
    stop_server(home)


def wait_until_gone(home: ServerHome, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while home.is_held():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.prefect
@pytest.mark.slow
def test_several_starters_get_one_server_and_a_killed_one_is_replaced(home: ServerHome) -> None:
    script = "from flows.server import ensure_server; print(ensure_server(180).pid)"
    starters = [
        subprocess.Popen(
            [sys.executable, "-c", script],
            env={**os.environ, "EVALMILL_HOME": str(home.folder)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    pids = {starter.communicate(timeout=START_SECONDS)[0].strip() for starter in starters}
    first = server_status(home)
    assert first is not None
    assert pids == {str(first.pid)}

    os.kill(first.pid, signal.SIGKILL)
    wait_until_gone(home, 10)
    assert server_status(home) is None
    second = ensure_server(START_SECONDS, home)
    assert second.pid != first.pid
    assert is_healthy(second.url)

    assert stop_server(home) is True
    assert server_status(home) is None
    assert stop_server(home) is False


@pytest.mark.prefect
@pytest.mark.slow
def test_an_idle_server_stops_by_itself(home: ServerHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALMILL_SERVER_IDLE_SECONDS", "1")
    ensure_server(START_SECONDS, home)
    wait_until_gone(home, 20)
    assert server_status(home) is None


@pytest.mark.prefect
@pytest.mark.slow
def test_a_taken_port_and_a_broken_database_are_got_over(
    home: ServerHome, prefect_server: ServerInfo
) -> None:
    (home.prefect_home / "port").write_text(str(prefect_server.port), encoding="utf-8")
    (home.prefect_home / "prefect.db").write_text("no database" * 100, encoding="utf-8")
    info = ensure_server(START_SECONDS, home)
    assert info.port != prefect_server.port
    assert (home.prefect_home / "prefect.broken").exists()


def test_a_home_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerUnavailable, match=r"can't be used.*EVALMILL_HOME"):
        ensure_server(5, ServerHome(tmp_path / "file" / "home"))


def test_a_server_that_does_not_start_gives_its_last_words(tmp_path: Path) -> None:
    home = ServerHome(tmp_path / "home")
    (home.prefect_home / "port").mkdir(parents=True)
    with pytest.raises(ServerUnavailable, match="did not start: IsADirectoryError"):
        ensure_server(60, home)


def test_a_server_that_never_answers_is_waited_for_so_long_only(tmp_path: Path) -> None:
    home = ServerHome(tmp_path / "home")
    lock = home.take()
    assert lock is not None
    with lock, pytest.raises(ServerUnavailable, match="did not answer in time"):
        ensure_server(0.3, home)


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/api", "https://127.0.0.1:1/api", "http://127.0.0.1:1"]
)
def test_nobody_at_home_is_not_healthy(url: str) -> None:
    assert not is_healthy(url, timeout=1)
