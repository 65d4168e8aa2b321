"""Earlier results as datasets."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import Overrides, resolve
from tests.engine import ASK, EQUALS, python_scorer, saying
from tests.results.task_result.logs import exported

DATA = [{"q": "2 + 2", "a": "4"}, {"q": "1 + 3", "a": "4"}, {"q": "5 - 1", "a": "4"}]
ASKED = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
LENGTH = python_scorer(
    """
def compute_scores(sample):
    return {"length": len(sample["output_text"]), "right": sample["scores"]["right"]["is_correct"],
            "said": sample["trace"]["items"][-1]["content"][0]["text"], "q": sample["q"]}
""",
    "length",
)


def reading(key):
    return {"dataset": {"source": "task_result", "key": key}, "scorers": [LENGTH]}


def test_rows_are_the_samples_with_output_trace_and_scores(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    again = engine.run(reading(f"{ran.run.folder.run_id}/exam"))
    assert again.values == {"length": 2.0}
    scores = again.run.scores()
    assert list(scores["right"]) == [True, False, True]
    assert list(scores["said"]) == ["4", "five", "4"]
    assert list(scores["q"]) == [row["q"] for row in DATA]
    assert list(scores["sample_id"]) == ["0", "1", "2"]


def test_the_run_alone_names_its_only_result_and_a_log_does_too(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    of_run = engine.run(reading(ran.run.folder.run_id))
    path = exported(engine, ran).path.relative_to(engine.folder)
    of_log = engine.run(reading(str(path)))
    assert of_log.run.scores().equals(of_run.run.scores())
    stored = engine.folder / "run.yaml"
    stored.write_text(of_log.run.folder.resolved.read_text())  # it holds the absolute path
    assert engine.run().values == of_run.values


def test_rows_that_failed_are_left_out_and_that_is_said(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"])])
    again = engine.run(reading(ran.run.folder.run_id))
    assert again.spec["n_samples"] == 2
    assert "exam: 1 row of result 'run-1' failed there, left out here" in again.result["warnings"]


def test_trials_are_rows_of_their_own(engine):
    said = saying(["4", "5"], ["five", "4"], ["4", "4"])
    ran = engine.run({**ASKED, "trials": {"num_trials": 2}}, DATA, models=[said])
    again = engine.run(reading(ran.run.folder.run_id))
    assert list(again.run.scores()["sample_id"]) == ["0@0", "0@1", "1@0", "1@1", "2@0", "2@1"]
    assert list(again.run.scores()["right"]) == [True, False, False, True, True, True]


def test_some_rows_are_chosen_as_of_any_dataset(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    engine.write(reading(ran.run.folder.run_id))
    again = engine.run(overrides=Overrides(num_samples=2, subsampling="random"))
    assert again.spec["n_samples"] == 2


def test_config_names_results(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    spec = [{"type": "task_result", "key": "earlier", "display_name": "Earlier"}]
    again = engine.run(
        reading("<< config.earlier >>"),
        config_spec=spec,
        specification={"task_config": {"earlier": ran.run.folder.run_id}},
    )
    assert again.values == {"length": 2.0}
    log = exported(engine, ran).path.relative_to(engine.folder)
    engine.write(
        reading("<< config.earlier >>"),
        config_spec=spec,
        specification={"task_config": {"earlier": str(log)}},
    )
    (resolved,) = resolve(engine.folder / "run.yaml").specs
    assert resolved.result_key == str(engine.folder / log)
    assert resolved.config["earlier"] == resolved.result_key
    assert engine.run().values == {"length": 2.0}


@pytest.mark.parametrize(
    ("key", "problem"),
    [
        ("never/exam", "task result 'never/exam': there is no run 'never'"),
        ("run-1/other", "task result 'run-1/other': there is no such result; known: run-1/exam"),
        ("none.json", "can't be read"),
    ],
)
def test_a_result_that_is_not_there_is_told(engine, key, problem):
    engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    with pytest.raises(DefinitionErrors, match=problem):
        engine.run(reading(key))


def test_checking_a_file_asks_for_no_run(engine):
    engine.write(reading("later/exam"))
    assert len(open_rows(resolve(engine.folder / "run.yaml"))["exam"]) == 0


def test_a_column_that_the_rows_have_not_is_told(engine):
    ran = engine.run(ASKED, DATA, models=[saying(["4"], ["five"], ["4"])])
    column = {"type": "dataset_column", "key": "column", "display_name": "Column"}
    with pytest.raises(DefinitionErrors, match="the dataset has no column 'ouput_text'"):
        engine.run(
            reading(ran.run.folder.run_id),
            config_spec=[column],
            specification={"task_config": {"column": "ouput_text"}},
        )
