"""A run ends complete whatever Prefect does, and is recorded there when it can be."""

import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from prefect.client.orchestration import get_client

from flows.client import connected
from flows.conductor import conduct
from flows.local import LocalDriver
from flows.server import ServerHome, ServerInfo, ensure_server, stop_server
from tasks_lib.errors import Stopped
from tasks_lib.results import load_run
from tasks_lib.runs.run import Run
from tests.fake_openai import RunningServer
from tests.flows import runs


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHMARK_API_KEY", "any")


def conducted(run: Run, on_notice: Callable[[str], None] | None = None) -> tuple[list[str], float]:
    """Conduct a run to its end; return the warnings and the seconds it took."""
    warnings: list[str] = []
    driver = LocalDriver(run)
    started = time.monotonic()
    driver.start()
    try:
        result = conduct(run, driver, warnings.append, on_notice)
    finally:
        run.close()
    assert result["exit_code"] == 0
    assert run.folder.complete.exists()
    return warnings, time.monotonic() - started


@pytest.mark.prefect
def test_the_flow_takes_over_what_the_head_start_has_not_done(
    prefect_server: ServerInfo, fake_server: RunningServer, tmp_path: Path
) -> None:
    fake_server.reset(latency_ms=50)
    run = runs.begun(tmp_path, 60, batch_size=3, url=fake_server.base_url)
    warnings, _ = conducted(run)
    assert warnings == []
    assert fake_server.stats()["requests"] == 60
    samples = load_run(run.folder.path).samples()
    assert sorted(samples["sample_index"]) == list(range(60))
    record = json.loads(run.folder.run_json.read_text(encoding="utf-8"))
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        flow_run = runs.flow_run(client, record["prefect_flow_run_id"])
        assert flow_run.name == run.plan.run_id
        assert {"evaluation:benchmark", "task:sums", "model:model"} == set(flow_run.tags)
        assert flow_run.state is not None
        assert flow_run.state.is_completed()
        names = {one.name for one in runs.task_runs(client, str(flow_run.id), 20 + 20 + 1 + 1)}
        assert {"solve sums [0:3]", "score sums [57:60]", "score all sums"} <= names
        shown = runs.artifacts(client, str(flow_run.id))
    assert shown["progress"].data == 100
    (row,) = json.loads(str(shown["table"].data))
    assert row | {"metric": "is_correct_mean", "value": "1", "rows": 60, "errors": 0} == row


@pytest.mark.prefect
def test_a_flow_whose_model_gives_no_reply_fails_and_says_why(
    prefect_server: ServerInfo, tmp_path: Path
) -> None:
    run = runs.begun(tmp_path, 60, url="http://127.0.0.1:9/v1")
    try:
        with pytest.raises(Stopped):
            conduct(run, LocalDriver(run))  # no head start: the flow does it all
        assert "no usable reply to the first 5 calls" in str(run.models.cause)
    finally:
        run.close()
    assert run.prefect_flow_run_id is not None
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        state = runs.flow_run(client, run.prefect_flow_run_id).state
    assert state is not None
    assert (state.is_failed(), state.name) == (True, "Stopped")
    assert str(state.message) == str(run.models.cause)


def test_without_a_server_the_run_ends_complete_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("EVALMILL_HOME", str(tmp_path / "file" / "home"))
    (warning,), _ = conducted(runs.begun(tmp_path, 10))
    assert warning.startswith("not recorded in Prefect: ")
    assert "EVALMILL_HOME" in warning


def test_a_configured_server_that_is_gone_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PREFECT_API_URL", "http://127.0.0.1:1/api")
    (warning,), seconds = conducted(runs.begun(tmp_path, 10))
    assert "http://127.0.0.1:1/api: the Prefect API does not answer" in warning
    assert seconds < 30


@pytest.fixture
def own_server(
    prefect_server: ServerInfo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ServerInfo]:
    """A server that only this test uses, made from the tests' server's database."""
    home = ServerHome(tmp_path / "home")
    home.prefect_home.mkdir(parents=True)
    template = f"template-{prefect_server.prefect}.db"
    shutil.copyfile(ServerHome.default().prefect_home / template, home.prefect_home / template)
    monkeypatch.setenv("EVALMILL_HOME", str(home.folder))
    yield ensure_server(180)
    stop_server(home)


@pytest.mark.prefect
@pytest.mark.slow
def test_a_server_killed_in_the_middle_costs_a_warning_and_seconds(
    own_server: ServerInfo, fake_server: RunningServer, tmp_path: Path
) -> None:
    fake_server.reset(latency_ms=100)
    run = runs.begun(tmp_path, 300, batch_size=10, url=fake_server.base_url)
    killed: list[int] = []

    def kill(notice: str) -> None:
        def later() -> None:
            runs.until(lambda: run.progress.samples_done >= 200)
            killed.append(run.progress.samples_done)
            os.kill(own_server.pid, signal.SIGKILL)

        threading.Thread(target=later).start()

    warnings, seconds = conducted(run, kill)
    assert killed[0] < 300
    assert len(warnings) == 1
    assert warnings[0].startswith("not wholly recorded in Prefect")
    assert fake_server.stats()["requests"] == 300
    assert seconds < 60


@pytest.mark.prefect
def test_an_interruption_is_noted_and_ends_soon(
    prefect_server: ServerInfo, fake_server: RunningServer, tmp_path: Path
) -> None:
    fake_server.reset(latency_ms=200)
    run = runs.begun(tmp_path, 400, batch_size=5, url=fake_server.base_url)
    begun = threading.Event()
    stopper = threading.Thread(target=lambda: (begun.wait(60), run.stop()))
    stopper.start()
    driver = LocalDriver(run)
    driver.start()
    with pytest.raises(Stopped):
        conduct(run, driver, on_notice=lambda notice: begun.set())
    stopper.join()
    run.close()
    assert not run.folder.complete.exists()
    assert fake_server.stats()["requests"] < 400
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        state = runs.flow_run(client, str(run.prefect_flow_run_id)).state
    assert state is not None
    assert state.is_cancelled()
