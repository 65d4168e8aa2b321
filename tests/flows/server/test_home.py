"""Who holds the folder of the local server, and what it says of itself."""

from pathlib import Path

import pytest

from flows.server import ServerHome, ServerInfo, ServerUnavailable, server_status, stop_server
from flows.server.home import this_host


@pytest.fixture
def home(tmp_path: Path) -> ServerHome:
    return ServerHome(tmp_path / "home")


def announced(home: ServerHome, host: str = "") -> ServerInfo:
    info = ServerInfo(1, 9, host or this_host(), "2026-01-01T00:00:00+00:00", "3.9.1")
    home.prefect_home.mkdir(parents=True, exist_ok=True)
    home.announce(info)
    return info


def test_one_process_at_a_time_holds_a_home(home: ServerHome) -> None:
    assert not home.is_held()
    lock = home.take()
    assert lock is not None
    assert home.take() is None
    assert home.is_held()
    lock.close()
    assert not home.is_held()


def test_what_a_server_announces_is_read_back(home: ServerHome) -> None:
    info = announced(home)
    assert home.announced() == info
    assert (info.url, info.ui_url) == ("http://127.0.0.1:9/api", "http://127.0.0.1:9")


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": 1}'])
def test_a_damaged_record_is_no_record(text: str, home: ServerHome) -> None:
    announced(home)
    home.record.write_text(text, encoding="utf-8")
    assert home.announced() is None


def test_a_record_left_by_a_dead_server_is_no_server(home: ServerHome) -> None:
    announced(home)
    assert server_status(home) is None
    assert stop_server(home) is False


def test_a_server_of_another_machine_is_not_touched(home: ServerHome) -> None:
    announced(home, host="elsewhere")
    assert server_status(home) is None
    lock = home.take()
    assert lock is not None
    with lock, pytest.raises(ServerUnavailable, match="runs on 'elsewhere'"):
        stop_server(home)


def test_the_environment_names_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVALMILL_HOME", str(tmp_path / "named"))
    assert ServerHome.default().folder == tmp_path / "named"
    monkeypatch.delenv("EVALMILL_HOME")
    assert ServerHome.default().folder == Path.home() / ".evalmill"
