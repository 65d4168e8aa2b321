"""Who says how many trials there are, and what a wrong number is told."""

import json

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import Overrides, resolve
from tests.engine import saying
from tests.steps.trials import DATA, task


def test_more_tries_than_trials_are_refused_before_any_call(engine):
    engine.write(task(("is_correct", "unbiased_pass^k", {"k": 5})), DATA, models=[saying("x")])
    with pytest.raises(DefinitionErrors, match=r"unbiased_pass\^5 of 'is_correct' needs 5 trials"):
        resolve(engine.folder / "run.yaml", Overrides())
    assert resolve(engine.folder / "run.yaml", Overrides(num_trials=5)).specs[0].num_trials == 5
    assert resolve(engine.folder / "run.yaml", Overrides(num_trials=1)).specs[0].num_trials == 1


@pytest.mark.parametrize(
    ("of_task", "of_run", "of_spec", "of_command", "expected"),
    [
        pytest.param(None, None, None, None, 1, id="nobody says anything"),
        pytest.param(2, None, None, None, 2, id="the task"),
        pytest.param(None, 3, None, None, 3, id="the run alone turns trials on"),
        pytest.param(None, None, 4, None, 4, id="the specification alone turns trials on"),
        pytest.param(None, None, None, 5, 5, id="the command line alone turns trials on"),
        pytest.param(2, 3, None, None, 3, id="run over task"),
        pytest.param(2, None, 4, None, 4, id="specification over task"),
        pytest.param(2, 3, 4, None, 4, id="specification over run"),
        pytest.param(2, 3, 4, 5, 5, id="command line over all"),
        pytest.param(2, 3, 1, None, 1, id="1 in the specification turns trials off"),
        pytest.param(2, 3, 4, 1, 1, id="1 on the command line turns trials off"),
    ],
)
def test_who_says_how_many_trials(engine, of_task, of_run, of_spec, of_command, expected):
    definition = task(trials=of_task)
    if of_task is None:
        del definition["trials"]
    file = engine.write(
        definition,
        DATA,
        models=[saying(default="4")],
        specification={"trials": {"num_trials": of_spec}} if of_spec else {},
        run_config={"trials_config": {"num_trials": of_run}} if of_run else {},
    )
    resolved = resolve(file, Overrides(num_trials=of_command))
    assert resolved.specs[0].num_trials == expected
    stored = engine.folder / "stored.yaml"
    stored.write_text(resolved.to_yaml())
    assert resolve(stored, Overrides(allow_outside=True)).specs[0].num_trials == expected


@pytest.mark.parametrize(
    ("trials", "complaint"),
    [
        pytest.param({"num_trials": 1}, "1 is not at least 2", id="a literal 1 in the task"),
        pytest.param({"num_trials": 2.5}, "num_trials", id="no whole number"),
        pytest.param({}, "'num_trials' is missing", id="no number"),
    ],
)
def test_wrong_numbers_of_trials(engine, trials, complaint):
    file = engine.write(task() | {"trials": trials}, DATA, models=[saying(default="4")])
    with pytest.raises(DefinitionErrors, match=complaint):
        resolve(file, Overrides())


def test_the_number_and_the_tries_may_come_from_the_config(engine):
    definition = task(("is_correct", "pass@k", {"k": "<< config.k >>"}), trials="<< config.n >>")
    parameters = [
        {"type": "int", "key": key, "display_name": key, "default_value": default}
        for key, default in (("n", 3), ("k", 2))
    ]
    ran = engine.run(definition, DATA, config_spec=parameters, models=[saying(default="4")])
    assert ran.spec["num_trials"] == 3
    assert list(ran.aggregates()["is_correct.pass@2"]) == [1.0, 1.0]


def test_turned_on_by_the_specification_they_have_default_aggregation(engine):
    definition = task()
    del definition["trials"]
    ran = engine.run(
        definition,
        DATA,
        models=[saying(["4", "5"], ["4"])],
        specification={"trials": {"num_trials": 2}},
    )
    assert list(ran.aggregates()["is_correct"]) == [0.5, 1.0]
    assert list(ran.aggregates()["is_correct.mean"]) == [0.5, 1.0]


def test_turned_off_scores_are_as_without_trials(engine):
    definition = task(("is_correct", "pass@k", {"k": 2}))
    model = saying(["4", "5"], ["4"])
    off = engine.run(definition, DATA, models=[model], overrides=Overrides(num_trials=1))
    assert off.aggregates().empty
    del definition["trials"]
    without = engine.run(definition, DATA, models=[model])
    assert off.result["metrics"] == without.result["metrics"]
    assert off.metrics["is_correct_mean"]["ci_method"] == "wilson"


def test_the_number_of_a_specification_may_come_from_the_evaluations_config(engine):
    file = engine.write(
        task(),
        DATA,
        models=[saying(default="4")],
        specification={"trials": {"num_trials": "<< config.n >>"}},
    )
    document = json.loads(file.read_text())
    document["evaluation"]["config_spec"] = [{"type": "int", "key": "n", "display_name": "N"}]
    for number in (1, 3):
        file.write_text(json.dumps({**document, "config": {"n": number}}))
        assert resolve(file, Overrides()).specs[0].num_trials == number
