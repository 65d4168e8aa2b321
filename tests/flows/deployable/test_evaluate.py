"""Evaluations that a person, a schedule or the API starts on a worker."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from prefect.client.orchestration import SyncPrefectClient, get_client
from prefect.deployments import run_deployment
from prefect.states import Scheduled
from prefect.utilities.callables import parameter_schema

from flows import evaluate, rescore
from flows.client import connected
from flows.deployable.deploy import deploy
from flows.server import ServerInfo
from tasks_lib.results import load_run
from tests.benchmarks.workload import write_run_file
from tests.flows import runs

POOL = "evalmill-worker-tests"


@pytest.mark.parametrize("flow", [evaluate, rescore], ids=lambda flow: flow.name)
def test_every_parameter_explains_itself(flow: object) -> None:
    schema = parameter_schema(flow)  # type: ignore[arg-type]
    for name, shown in schema.properties.items():
        assert shown["title"] != name
        assert shown["description"].endswith((".", "}."))
    assert set(schema.required) == {"file"} | ({"source"} & schema.properties.keys())


@pytest.fixture(scope="module")
def worker(prefect_server: ServerInfo) -> Iterator[None]:
    """A worker of the tests' own pool."""
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", POOL]
    environment = {
        **os.environ,
        "PREFECT_API_URL": prefect_server.url,
        "PREFECT_WORKER_QUERY_SECONDS": "1",
        "PYTHONPATH": str(Path(__file__).parents[3]),
    }
    process = subprocess.Popen(
        [*command, "--type", "process"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield
    finally:
        stopped(process)


def stopped(process: subprocess.Popen[bytes]) -> None:
    """End a worker, which may wait for longer than anybody needs it."""
    process.terminate()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def deployed(name: str, limit: int = 1) -> str:
    """Deploy an evaluation of ten sums from the working folder."""
    write_run_file(Path.cwd(), 10, None)
    entry = {
        "name": name,
        "entrypoint": "flows.deployable.evaluate.evaluate",
        "parameters": {"file": "run.yaml"},
        "work_pool": {"name": POOL},
        "concurrency_limit": {"limit": limit},
    }
    text = yaml.safe_dump({"deployments": [entry]})
    Path("prefect.yaml").write_text(text, encoding="utf-8")
    return deploy()[0].name


@pytest.mark.prefect
@pytest.mark.slow
def test_a_run_started_through_the_api_lands_in_the_store(
    prefect_server: ServerInfo, worker: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = deployed("through-the-api")
    with connected(prefect_server.url):
        run = run_deployment(name, parameters={"limit": 7, "batch_size": 2}, timeout=180)
    assert run.state.is_completed(), run.state
    (folder,) = (tmp_path / ".evalmill" / "runs").iterdir()
    stored = load_run(folder)
    assert stored.complete
    assert len(stored.samples()) == 7
    record = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    assert record["prefect_flow_run_id"] == str(run.id)
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        shown = runs.artifacts(client, str(run.id))
        flow_run = runs.flow_run(client, str(run.id))
    assert flow_run.name == folder.name
    assert shown["progress"].data == 100
    assert "table" in shown


@pytest.mark.prefect
@pytest.mark.slow
def test_after_an_outage_one_run_catches_up(
    prefect_server: ServerInfo, worker: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BR-094: of three missed nights the last is run, even if it ends before the others begin."""
    monkeypatch.chdir(tmp_path)
    name = deployed("outage", limit=3)  # with fewer they wait for each other, half a minute
    now = datetime.now(UTC)
    nights = [now - timedelta(days=days) for days in (1, 2, 3)]
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        deployment = client.read_deployment_by_name(name)
        missed = [
            client.create_flow_run_from_deployment(
                deployment.id, state=Scheduled(scheduled_time=night), tags=["auto-scheduled"]
            )
            for night in nights
        ]
        identities = [str(run.id) for run in missed]

        def ended() -> bool:
            states = [runs.flow_run(client, one).state for one in identities]
            return all(state is not None and state.is_final() for state in states)

        runs.until(ended, 240)
        names = [state_name(client, one) for one in identities]
    assert names == ["Completed", "Skipped", "Skipped"]
    assert len(list((tmp_path / ".evalmill" / "runs").iterdir())) == 1


def state_name(client: SyncPrefectClient, flow_run_id: str) -> str:
    state = runs.flow_run(client, flow_run_id).state
    return str(state.name) if state else ""
