"""Workers that share a global concurrency limit of Prefect."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from flows.global_limit import VARIABLE, GlobalLimit, named_limit
from flows.server import ServerInfo
from tasks_lib.errors import DefinitionError, Stopped
from tests.e2e.conftest import lab
from tests.e2e.lab import Lab, Outcome, questions
from tests.fake_openai import RunningServer

__all__ = ["lab"]

NAME = "llm-lab"


def go_on() -> None:
    """Wait on."""


@pytest.fixture
def limit(prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch) -> Iterator[GlobalLimit]:
    """A limit of four calls at a time, named by the environment."""
    from prefect.client.orchestration import get_client

    from flows.client import connected

    with connected(prefect_server.url), get_client(sync_client=True) as client:
        client.upsert_global_concurrency_limit_by_name(NAME, 4)
        monkeypatch.setenv(VARIABLE, NAME)
        yield named_limit()
        client.delete_global_concurrency_limit_by_name(NAME)


def slots_held(limit: GlobalLimit) -> int:
    from prefect.client.orchestration import get_client

    from flows.client import connected

    with connected(limit.api_url), get_client(sync_client=True) as client:
        return client.read_global_concurrency_limit_by_name(NAME).active_slots


def test_without_a_name_nothing_is_asked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv(VARIABLE, raising=False)
    assert named_limit() == GlobalLimit()


def test_a_run_without_prefect_warns_that_it_is_not_kept_to(lab: Lab):
    outcome = lab.run(env={VARIABLE: NAME})
    assert outcome.exit_code == 0
    assert f"{VARIABLE} is not kept to: the run is without Prefect" in outcome.stderr


@pytest.mark.prefect
def test_a_limit_that_is_not_there_is_an_error_before_any_call(
    prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv(VARIABLE, "no-such-limit")
    with pytest.raises(DefinitionError, match="no global concurrency limit 'no-such-limit'"):
        named_limit()


@pytest.mark.prefect
def test_a_batch_holds_its_share_and_hands_it_back(limit: GlobalLimit):
    from flows.leases import GlobalLeases

    leases = GlobalLeases(limit.name, limit.api_url, limit.slots, 2, pytest.fail)
    with leases.hold(100, go_on) as calls:
        assert calls == slots_held(limit) == 4, "never more than there are"
    with leases.hold(3, go_on) as calls:
        assert calls == slots_held(limit) == 2, "half of what it would want alone"
    assert slots_held(limit) == 0
    leases.close()


@pytest.mark.prefect
def test_who_waits_goes_on_when_slots_are_free_and_ends_when_told(limit: GlobalLimit):
    from flows.leases import GlobalLeases

    leases, stopping = GlobalLeases(NAME, limit.api_url, 4, 1, pytest.fail), threading.Event()

    def check() -> None:
        if stopping.is_set():
            raise Stopped

    def wait() -> float:
        with leases.hold(4, check):
            return time.monotonic()

    with ThreadPoolExecutor(2) as pool:
        with leases.hold(4, check):
            waiting = pool.submit(wait)
            time.sleep(1.0)
            assert not waiting.done()
            freed = time.monotonic()
        assert waiting.result(timeout=20) >= freed
        with leases.hold(4, check):
            waiting = pool.submit(wait)
            stopping.set()
            with pytest.raises(Stopped):
                waiting.result(timeout=20)
    leases.close()


def test_a_server_that_is_gone_is_done_without():
    from flows.leases import GlobalLeases

    warnings: list[str] = []
    leases = GlobalLeases(NAME, "http://127.0.0.1:9/api", 4, 1, warnings.append)
    with leases.hold(10, go_on) as calls:
        assert calls == 4
    leases.close()
    (warning,) = warnings
    assert f"'{NAME}' can't be kept to" in warning


@pytest.mark.prefect
def test_runs_of_several_workers_keep_to_it_together(
    limit: GlobalLimit, lab: Lab, fake_server: RunningServer, tmp_path: Path
):
    fake_server.reset(latency_ms=100)
    lab.write(qa_jsonl=questions(30))

    def run(number: int) -> Outcome:
        arguments = ("-j", "20", "--no-progress", "--batch-size", "10")
        env = {VARIABLE: NAME, "PREFECT_API_URL": limit.api_url}
        return lab.run(*arguments, conductor=(), env=env, store=tmp_path / f"store-{number}")

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(run, range(2)))
    assert [outcome.exit_code for outcome in outcomes] == [0, 0], outcomes[0].stderr
    stats = fake_server.stats()
    assert stats["statuses"]["200"] == 60
    assert stats["max_in_flight"] <= 4
    assert slots_held(limit) == 0
