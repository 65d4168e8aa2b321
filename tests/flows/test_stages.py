"""Which task runs follow which: scores wait for their own solve, the rest for all."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect import Flow

from flows.client import connected
from flows.server import ServerInfo
from flows.stages import run_stages
from tasks_lib import steps
from tasks_lib.errors import StoreError
from tasks_lib.runs.run import Run, StepResult
from tests.flows import runs


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    run = runs.begun(tmp_path, 120, batch_size=4)
    yield run
    run.close()


def staged(run: Run, server: ServerInfo) -> StepResult:
    """Run the stages in a flow."""

    def stages() -> StepResult:
        return run_stages(run)

    with connected(server.url):
        return Flow(stages, name="stages", persist_result=False)()


@pytest.mark.prefect
def test_scores_do_not_queue_behind_all_solves(
    run: Run, prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, int]] = []

    def noted(name: str) -> None:
        step = getattr(steps, name)

        def wrapper(run_dir: str, spec_key: str, start: int = -1, stop: int = -1) -> StepResult:
            places = (start, stop) if start >= 0 else ()
            result: StepResult = step(run_dir, spec_key, *places)
            done.append((name, start))
            return result

        monkeypatch.setattr(steps, name, wrapper)

    for name in ("solve_batch", "score_batch", "score_all"):
        noted(name)
    result = staged(run, prefect_server)
    assert result["metrics"][0]["n"] == 120
    starts = range(0, 120, 4)
    place = {step: number for number, step in enumerate(done)}
    assert all(place["solve_batch", start] < place["score_batch", start] for start in starts)
    assert done[-1] == ("score_all", -1)
    behind = [place["score_batch", start] - place["solve_batch", start] for start in starts]
    assert sorted(behind)[len(behind) // 2] <= 4 * run.plan.batches_at_once
    assert place["score_batch", 0] < place["solve_batch", 116]


@pytest.mark.prefect
def test_a_batch_that_fails_for_want_of_a_resource_is_tried_again(
    run: Run, prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flows.tasks.solve.retry_delay_seconds", [0.01, 0.01])
    solve, failures = steps.solve_batch, [OSError("no more processes"), MemoryError()]

    def short_of(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
        if start == 8 and failures:
            raise failures.pop()
        return solve(run_dir, spec_key, start, stop)

    monkeypatch.setattr(steps, "solve_batch", short_of)
    assert staged(run, prefect_server)["metrics"][0]["n"] == 120
    assert failures == []


@pytest.mark.prefect
def test_a_batch_that_fails_for_good_does_not_stop_the_others(
    run: Run, prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve, tries = steps.solve_batch, []

    def broken(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
        if start == 8:
            tries.append(start)
            raise TypeError("a mistake of ours")
        return solve(run_dir, spec_key, start, stop)

    monkeypatch.setattr(steps, "solve_batch", broken)
    with pytest.raises(TypeError, match="a mistake of ours"):
        staged(run, prefect_server)
    assert len(tries) == 1
    assert run.progress.samples_done == 116
    assert not run.folder.complete.exists()


@pytest.mark.prefect
def test_a_store_that_fails_stops_the_run(
    run: Run, prefect_server: ServerInfo, monkeypatch: pytest.MonkeyPatch
) -> None:
    solve, tries = steps.solve_batch, []

    def full(run_dir: str, spec_key: str, start: int, stop: int) -> StepResult:
        if start >= 8:
            tries.append(start)
            raise StoreError("no space left on device")
        return solve(run_dir, spec_key, start, stop)

    monkeypatch.setattr(steps, "solve_batch", full)
    with pytest.raises(StoreError, match="no space left"):
        staged(run, prefect_server)
    assert run.stopping
    assert len(tries) < 28
