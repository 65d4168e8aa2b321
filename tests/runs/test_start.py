import json
import os
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import DefinitionError, DefinitionErrors, StoreError
from tasks_lib.exit_codes import INTERRUPTED
from tasks_lib.plan import RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.plan.previous_run import previous_run
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.results.files import read_json, write_json
from tasks_lib.results.folder import RunFolder
from tasks_lib.runs.record import write_record
from tasks_lib.runs.start import start_run
from tests.engine import ASK, EQUALS, Engine, saying

DATA = [{"q": "1?", "a": "x"}, {"q": "2?", "a": "y"}]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = Engine(tmp_path)
    write(engine)
    return engine


def write(engine: Engine, data: Any = DATA, **changes: Any) -> None:
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    engine.write({**definition, **changes}, data, models=[saying(default="x")])


def settings(engine: Engine, **fields: Any) -> RunSettings:
    return RunSettings(engine.store, run_id="run-1", **fields)


def evaluation(engine: Engine) -> Any:
    return resolve(engine.folder / "run.yaml", Overrides())


def begun(engine: Engine, **fields: Any) -> RunFolder:
    """Begin a run and leave it."""
    run = start_run(*plan_run(evaluation(engine), settings(engine, **fields)))
    run.close()
    return run.folder


# beginning


def test_a_run_that_begins_says_what_it_is_going_to_do(engine: Engine):
    folder = begun(engine, max_error_rate=0.1, fail_under={"is_correct_mean": 0.5}, batch_size=1)
    record = read_json(folder.run_json)
    assert (record["run_id"], record["status"], record["exit_code"]) == ("run-1", "running", None)
    assert record["finished_at"] is None
    (spec,) = record["specs"]
    assert (spec["key"], spec["model_key"], spec["n_samples"]) == ("exam", "lab", 2)
    assert spec["n_rows"] is None
    assert record["plan"]["batches"] == {"exam": [[0, 1], [1, 2]]}
    assert not folder.complete.exists()
    assert resolve(folder.resolved, Overrides(allow_outside=True)).specs[0].key == "exam"


def test_a_run_id_is_used_once(engine: Engine):
    begun(engine)
    with pytest.raises(DefinitionError) as caught:
        begun(engine)
    assert str(caught.value) == (
        "--run-id: there is a run 'run-1' already; choose another id, or continue it with "
        "--resume run-1"
    )


def test_a_run_that_can_not_call_its_model_leaves_nothing(engine: Engine):
    model = {
        "key": "lab",
        "display_name": "Lab",
        "config": {"url": "http://127.0.0.1:9/v1", "api_key": "$UNSET_KEY"},
    }
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    engine.write(definition, DATA, models=[model])
    with pytest.raises(DefinitionError, match="'UNSET_KEY' is not set; set it"):
        begun(engine)
    assert list((engine.store / "runs").iterdir()) == []


def test_a_store_that_can_not_be_written_is_a_store_error(engine: Engine):
    engine.store.mkdir()
    (engine.store / "runs").write_text("no folder")
    with pytest.raises(StoreError, match="choose another store with --out"):
        begun(engine)


def test_wrong_data_of_all_specifications_is_told_at_once(engine: Engine):
    text = (engine.folder / "run.yaml").read_text()
    document = json.loads(text)
    (spec,) = document["evaluation"]["task_specifications"]
    document["evaluation"]["task_specifications"] = [spec, {**spec, "key": "again"}]
    (engine.folder / "run.yaml").write_text(json.dumps(document))
    (engine.folder / "qa.jsonl").write_text('{"q": 1}\n{"q": \n')
    with pytest.raises(DefinitionErrors) as caught:
        open_rows(evaluation(engine))
    assert all("qa.jsonl:2" in str(problem) for problem in caught.value.problems)


# continuing


def resumed(engine: Engine, **fields: Any) -> Any:
    earlier = previous_run(RunFolder(engine.store / "runs" / "run-1"))
    given = settings(engine, resume=True, **fields)
    plan, _ = plan_run(evaluation(engine), earlier.settings(given), earlier)
    return plan


def test_a_resumed_run_keeps_its_batches_and_settings(engine: Engine):
    begun(
        engine,
        batch_size=1,
        max_error_rate=0.1,
        fail_under={"is_correct_mean": 0.5},
        max_connections=3,
    )
    plan = resumed(engine, batch_size=2)
    assert plan.spec("exam").batches == ((0, 1), (1, 2))
    assert plan.settings.max_error_rate == 0.1
    assert plan.settings.fail_under == {"is_correct_mean": 0.5}
    assert plan.settings.max_connections == 3


def test_settings_given_anew_win(engine: Engine):
    begun(engine, max_error_rate=0.1, max_connections=3)
    plan = resumed(
        engine, max_error_rate=0.5, max_connections=7, fail_under={"mean_is_correct": 0.2}
    )
    assert plan.settings.max_error_rate == 0.5
    assert plan.settings.max_connections == 7
    assert plan.settings.fail_under == {"mean_is_correct": 0.2}


@pytest.mark.parametrize("what", ["a row", "the scorer", "another specification"])
def test_another_evaluation_is_not_the_same_run(engine: Engine, what: str):
    begun(engine)
    if what == "a row":
        write(engine, [DATA[0], {"q": "2?", "a": "z"}])
    elif what == "the scorer":
        write(engine, scorers=[{**EQUALS, "ground_truth": "{{ sample.a }}!"}])
    else:
        file = engine.folder / "run.yaml"
        document = json.loads(file.read_text())
        specs = document["evaluation"]["task_specifications"]
        specs.append({**specs[0], "key": "again"})
        file.write_text(json.dumps(document))
    name = "again" if what == "another specification" else "exam"
    with pytest.raises(DefinitionError) as caught:
        resumed(engine)
    assert str(caught.value) == (
        f"--resume: definitions or data of '{name}' have changed since run 'run-1'; start a new "
        "run; what it shares with the old one comes from the ledger"
    )


def test_there_must_be_a_run_to_resume(engine: Engine):
    with pytest.raises(DefinitionError, match=r"there is no run 'run-1' in .*; list the runs with"):
        resumed(engine)


@pytest.mark.parametrize("version", [None, "99"])
def test_a_run_of_another_schema_is_not_continued(engine: Engine, version: str | None):
    folder = begun(engine)
    write_json(folder.run_json, read_json(folder.run_json) | {"schema_version": version})
    with pytest.raises(DefinitionError, match=r"run\.json: it has schema version .*; start a new"):
        resumed(engine)


def test_a_run_json_cut_off_is_a_store_error(engine: Engine):
    folder = begun(engine)
    os.truncate(folder.run_json, 20)
    with pytest.raises(StoreError, match=r"run\.json: is no JSON"):
        resumed(engine)


# ending early


def test_a_run_that_ends_early_says_so(engine: Engine):
    run = start_run(*plan_run(evaluation(engine), settings(engine)))
    write_record(run, "interrupted", INTERRUPTED)
    run.close()
    record = read_json(run.folder.run_json)
    assert (record["status"], record["exit_code"]) == ("interrupted", 130)
    assert record["finished_at"] is not None
    assert not run.folder.complete.exists()
