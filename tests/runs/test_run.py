import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tasks_lib.errors import DefinitionError, StoreError
from tasks_lib.models.ledger.file import ledger_path
from tasks_lib.plan import Plan, RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.runs.progress import Progress
from tasks_lib.runs.run import Run, find_open_run, open_run
from tests.engine import ASK, EQUALS, Engine, saying


def planned(folder: Path, **model: object) -> tuple[Plan, dict]:
    engine = Engine(folder)
    models = [{**saying(default="x"), **model}]
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    file = engine.write(definition, [{"q": "?", "a": "x"}], models=models)
    return plan_run(resolve(file, Overrides()), RunSettings(engine.store, run_id="run-1"))


@pytest.fixture
def run(tmp_path: Path):
    opened = open_run(*planned(tmp_path))
    yield opened
    opened.close()


# once


def test_simultaneous_callers_share_one_execution(run: Run):
    begun, done = threading.Event(), []

    def work() -> dict[str, int]:
        begun.wait()
        done.append(1)
        return {"rows": len(done)}

    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(run.once, ("solve", "exam", "0"), work) for _ in range(8)]
        begun.set()
        assert [future.result() for future in asked] == [{"rows": 1}] * 8
    assert run.once(("solve", "exam", "0"), work) == {"rows": 1}, "and so do later ones"
    assert run.once(("solve", "exam", "1"), work) == {"rows": 2}


def test_all_who_wait_hear_of_a_failure_and_whoever_asks_again_tries_again(run: Run):
    waiting, attempts = threading.Barrier(5), []

    def fail() -> dict[str, int]:
        attempts.append(1)
        time.sleep(0.05)
        raise StoreError("disk full")

    def ask() -> str:
        waiting.wait()
        try:
            run.once(("reduce",), fail)
        except StoreError as error:
            return error.problem
        return "no error"

    with ThreadPoolExecutor(5) as pool:
        told = [future.result() for future in [pool.submit(ask) for _ in range(5)]]
    assert told == ["disk full"] * 5
    assert len(attempts) == 1
    assert run.once(("reduce",), lambda: {"metrics": []}) == {"metrics": []}


def test_an_interruption_is_a_failure_like_others(run: Run):
    def interrupted() -> dict[str, int]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run.once(("reduce",), interrupted)
    assert run.once(("reduce",), lambda: {"rows": 1}) == {"rows": 1}


# open runs


def test_steps_find_the_run_by_its_folder(run: Run):
    assert find_open_run(str(run.plan.run_dir)) is run


def test_a_run_that_is_closed_is_found_no_more(tmp_path: Path):
    run = open_run(*planned(tmp_path))
    run.close()
    with pytest.raises(StoreError) as caught:
        find_open_run(str(run.plan.run_dir))
    assert str(caught.value) == (
        f"{run.plan.run_dir}: the run is not open in this process; "
        "continue it with: evalmill run --resume run-1"
    )


def test_a_store_that_can_not_be_is_a_store_error(tmp_path: Path):
    plan, rows = planned(tmp_path)
    (tmp_path / "store").write_text("a file")
    with pytest.raises(StoreError, match=r"can't make the run's folder: .*; choose"):
        open_run(plan, rows)


def test_a_ledger_that_is_none_leaves_no_thread_behind(tmp_path: Path):
    plan, rows = planned(tmp_path)
    (tmp_path / "store").mkdir()
    ledger_path(tmp_path / "store").write_bytes(b"no database " * 100)
    before = threading.active_count()
    with pytest.raises(StoreError, match="the ledger can't be used"):
        open_run(plan, rows)
    assert threading.active_count() == before


def test_models_that_can_not_be_opened_show_at_once(tmp_path: Path):
    config = {"connection_type": "provider_connection", "provider_id": "novita", "model_key": "m"}
    run = open_run(*planned(tmp_path, config=config))
    with pytest.raises(DefinitionError, match="'NOVITA_API_KEY' is not set"):
        run.check_models()
    run.close()


def test_warnings_are_not_repeated(run: Run):
    run.warn("a", "b")
    run.warn("b", "c")
    assert run.warnings == ["a", "b", "c"]


def test_progress_of_many_threads_adds_up():
    progress = Progress(4_000)

    def work(_: int) -> None:
        for i in range(500):
            progress.solved(failed=i % 5 == 0)
            progress.add(scored=1)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert (progress.samples_done, progress.samples_failed) == (4_000, 800)
    assert progress.rows_scored == 4_000
