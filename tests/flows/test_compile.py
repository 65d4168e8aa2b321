"""A compiled evaluation is a Prefect flow that runs it."""

from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.exceptions import FailedRun

from flows import compile_evaluation
from flows.client import connected
from flows.server import ServerInfo
from tasks_lib.errors import DefinitionError
from tasks_lib.plan import RunSettings
from tasks_lib.resolve import resolve
from tasks_lib.results import load_run
from tests.benchmarks.workload import write_run_file
from tests.flows import runs


@pytest.fixture
def settings(tmp_path: Path) -> RunSettings:
    return RunSettings(store=tmp_path / "store")


@pytest.mark.prefect
def test_each_call_is_a_new_run(
    prefect_server: ServerInfo, tmp_path: Path, settings: RunSettings
) -> None:
    flow = compile_evaluation(write_run_file(tmp_path, 20, None), settings, num_samples=5)
    assert isinstance(flow, Flow)
    assert flow.name == "benchmark"
    first, second = flow(), flow()
    assert first["run_id"] != second["run_id"]
    for result in (first, second):
        stored = load_run(Path(result["run_dir"]))
        assert stored.complete
        assert len(stored.samples()) == 5
        assert result["metrics"][0]["value"] == 1.0


@pytest.mark.prefect
def test_it_can_be_pickled_and_holds_no_rows(
    prefect_server: ServerInfo, tmp_path: Path, settings: RunSettings
) -> None:
    file = write_run_file(tmp_path, 2000, None)
    pickled = cloudpickle.dumps(compile_evaluation(resolve(file), settings))
    assert b"how much is" not in pickled
    assert len(pickled) < 50_000
    flow: Any = cloudpickle.loads(pickled)
    result = flow()
    assert result["metrics"][0]["n"] == 2000


@pytest.mark.prefect
def test_a_failed_gate_is_a_failed_flow_run(
    prefect_server: ServerInfo, tmp_path: Path, settings: RunSettings
) -> None:
    gated = RunSettings(store=settings.store, fail_under={"is_correct_mean": 1.5})
    flow = compile_evaluation(write_run_file(tmp_path, 3, None), gated)
    with pytest.raises(FailedRun):
        flow()
    state = flow(return_state=True)
    assert state.name == "GateFailed"
    assert "is_correct_mean" in str(state.message)
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        logged = runs.warnings(client, str(state.state_details.flow_run_id))
    assert "is_correct_mean is 1, under 1.5" in logged, "the run's log has it too"


@pytest.mark.prefect
def test_a_model_that_gives_no_reply_is_a_failed_flow_run_that_says_so(
    prefect_server: ServerInfo, tmp_path: Path, settings: RunSettings
) -> None:
    nobody = write_run_file(tmp_path, 100, "http://127.0.0.1:9/v1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BENCHMARK_API_KEY", "none-needed")
        state = compile_evaluation(nobody, settings)(return_state=True)
    assert state.is_failed()
    assert "model 'model': no usable reply to the first 5 calls: connection failed" in str(
        state.message
    )
    (run,) = (load_run(path) for path in settings.store.glob("runs/*"))
    assert (run.record["status"], run.record["exit_code"]) == ("failed", 3)


def test_wrong_files_are_known_before_anything_runs(tmp_path: Path) -> None:
    file = tmp_path / "run.yaml"
    file.write_text("evaluation: 1\n", encoding="utf-8")
    with pytest.raises(DefinitionError):
        compile_evaluation(file)


@pytest.mark.prefect
def test_two_thousand_samples_are_all_there_once(
    prefect_server: ServerInfo, tmp_path: Path, settings: RunSettings
) -> None:
    """BR-086, BR-088: orchestration neither loses nor doubles a sample, nor sees one."""
    flow = compile_evaluation(write_run_file(tmp_path, 2000, None), settings)
    result = flow()
    stored = load_run(Path(result["run_dir"]))
    assert sorted(stored.samples()["sample_index"]) == list(range(2000))
    with connected(prefect_server.url), get_client(sync_client=True) as client:
        number = 2 * len(stored.record["plan"]["batches"]["sums"]) + 2
        flow_run = runs.flow_run(client, stored.record["prefect_flow_run_id"])
        task_runs = runs.task_runs(client, str(flow_run.id), number)
    assert number <= 402
    assert flow_run.parameters == {}
    assert not any("how much is" in run.model_dump_json() for run in (flow_run, *task_runs))
