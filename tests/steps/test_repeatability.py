"""Repeatability: a specification run several times on the same samples."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.plan import RunSettings
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.runs.verdict import SpecOutcome, judge_run
from tests.engine import ASK, EQUALS, python_scorer, saying

LENGTH = python_scorer(
    "def compute_scores(sample, solver_output):\n"
    "    text = solver_output.output.choices[0].message.content\n"
    "    return {'length': len(text), 'text': text}",
    "length",
    key="own",
)
TASK = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
DATA = [{"q": "?", "a": "y"}, {"q": "!", "a": "y"}, {"q": ".", "a": "y"}]
DOCUMENTED = saying(list("ynyny"), list("yyyyy"), list("yyyyy"))
"""Rates of five runs: 1, 2/3, 1, 2/3, 1."""


def repeated(engine, runs, task=TASK, data=DATA, model=DOCUMENTED, **more):
    specification = {"repeatability": {"num_runs": runs}, **more.pop("specification", {})}
    return engine.run(task, data, models=[model], specification=specification, **more)


def test_metrics_are_reported_as_mean_and_spread_over_runs(engine):
    """The documented example the other way round: 0.67, 1, 0.67, 1, 0.67 have std 0.183."""
    ran = repeated(engine, 5, model=saying(list("nynyn"), list("yyyyy"), list("yyyyy")))
    assert ran.values["is_correct_mean_mean"] == pytest.approx(0.8)
    assert ran.values["is_correct_mean_std"] == pytest.approx(0.18257418583505536)
    assert list(ran.values) == [
        "is_correct_mean_mean", "is_correct_mean_std", "is_correct_agreement_mean",
    ]  # fmt: skip
    row = ran.metrics["is_correct_mean_mean"]
    assert (row["metric_key"], row["metric_type"]) == ("mean_is_correct", "mean")
    assert (row["n"], row["n_total"], row["n_error"]) == (15, 15, 0)


def test_agreement_is_the_share_of_the_most_common_value(engine):
    """0, 1, 0, 1, 0 agree by 0.60; averaged over samples."""
    ran = repeated(engine, 5, data=DATA[:1], model=saying(list("nynyn")))
    assert ran.values["is_correct_agreement_mean"] == pytest.approx(0.6)
    ran = repeated(engine, 5)
    row = ran.metrics["is_correct_agreement_mean"]
    assert row["value"] == pytest.approx((0.6 + 1 + 1) / 3)
    assert (row["metric_type"], row["n"], row["n_total"]) == ("agreement", 3, 3)
    assert row["ci_high"] == 1.0
    assert (row["bound_low"], row["bound_high"]) == pytest.approx((row["value"],) * 2)


def test_every_score_has_its_agreement_whatever_its_type(engine):
    task = {**TASK, "scorers": [LENGTH]}
    ran = repeated(engine, 3, task, DATA[:1], saying(["a", "bb", "c"]))
    assert ran.values == {
        "length_mean": pytest.approx(4 / 3),
        "length_std": pytest.approx(0.5773502691896258),
        "length_agreement_mean": pytest.approx(2 / 3),
        "text_agreement_mean": pytest.approx(1 / 3),
    }


def test_runs_are_the_trials_of_the_tables_without_aggregates(engine):
    ran = repeated(engine, 3)
    assert sorted(set(ran.run.samples()["trial"])) == [0, 1, 2]
    assert ran.aggregates().empty
    assert ran.run.scores()["is_correct"].dtype == bool
    spec = ran.spec
    assert (spec["num_runs"], spec["num_trials"], spec["n_rows"]) == (3, 1, 9)


def test_no_run_reads_another_runs_replies_and_a_second_time_pays_nothing(engine):
    first = repeated(engine, 3)
    assert engine.requests(first) == 9
    again = engine.run()
    assert engine.requests(again) == 0
    assert again.result["metrics"] == first.result["metrics"]
    more = repeated(engine, 5)
    assert engine.requests(more) == 6


def test_failed_rows_are_left_out_and_counted(engine):
    failing = {"sample_id": "0", "error": {"status": 400}}
    ran = repeated(engine, 2, data=DATA[:2], model=saying(failing, ["y", "n"]))
    rate = ran.metrics["is_correct_mean_mean"]
    assert (rate["value"], rate["n"], rate["n_total"], rate["n_error"]) == (0.5, 2, 4, 2)
    assert (rate["bound_low"], rate["bound_high"]) == (0.25, 0.75)
    agreement = ran.metrics["is_correct_agreement_mean"]
    assert (agreement["value"], agreement["n"], agreement["n_error"]) == (0.5, 1, 1)
    assert (agreement["bound_low"], agreement["bound_high"]) == (0.5, 0.75)
    assert ran.result["exit_code"] == 3


def test_a_metric_that_one_run_alone_can_compute_has_no_spread(engine):
    source = (
        "def compute_metrics(scores):\n"
        "    if not scores[0].values['is_correct']: raise ValueError('none')\n"
        "    return {'m': 1}\n"
    )
    metric = {"type": "python", "key": "m", "compute_metrics_snippet": source}
    task = {**TASK, "scorers": [{**EQUALS, "metrics": [metric]}]}
    ran = repeated(engine, 2, task, DATA[:1], saying(["y", "n"]))
    assert (ran.values["m_mean"], ran.values["m_std"]) == (1.0, None)
    assert "mean of 1 of 2 runs" in ran.metrics["m_mean"]["reason"]
    assert ran.metrics["m_std"]["reason"] == "1 of the runs has a value, so no spread"


def test_rules_look_at_each_run_and_see_the_solvers_output(engine):
    rule = {
        "key": "wrong",
        "action": "exclude_from_metrics",
        "filter": {
            "op": "equals",
            "expression": "{{ solver_output.output.choices[0].message.content }}",
            "value": "n",
        },
    }
    ran = repeated(engine, 5, {**TASK, "actions": [rule]})
    assert ran.values["num_excluded_from_metrics"] == 2.0
    assert ran.values["is_correct_mean_mean"] == 1.0
    assert ran.metrics["is_correct_agreement_mean"]["n_excluded"] == 0


def test_all_samples_scorers_score_each_run_by_itself(engine):
    scorer = python_scorer(
        "def compute_scores(samples, outputs): return [{'n': len(outputs)}] * len(samples)",
        "n",
    ) | {"type": "python_all_samples"}
    assert repeated(engine, 3, {**TASK, "scorers": [scorer]}).values["n_mean"] == 3.0


@pytest.mark.parametrize("size", [1, 2, 7])
def test_batches_do_not_matter(engine, size):
    whole = repeated(engine, 5)
    assert engine.run(batch_size=size).result["metrics"] == whole.result["metrics"]


def test_rescoring_gives_the_same(engine):
    first = repeated(engine, 5)
    again = engine.run(rescore=first)
    assert again.result["metrics"] == first.result["metrics"]
    assert again.spec["num_runs"] == 5


def test_the_stored_definition_says_it(engine):
    ran = repeated(engine, 3)
    stored = resolve(ran.run.folder.resolved, Overrides(allow_outside=True))
    assert (stored.specs[0].num_runs, stored.specs[0].num_trials) == (3, 1)


@pytest.mark.parametrize(
    ("definition", "specification", "run_config", "overrides", "complaint"),
    [
        pytest.param(
            {**TASK, "trials": {"num_trials": 2}}, {}, None, Overrides(),
            "can't be combined with trials, and there are 2", id="trials of the task",
        ),
        pytest.param(
            TASK, {"trials": {"num_trials": 3}}, None, Overrides(), "there are 3",
            id="trials of the specification",
        ),
        pytest.param(
            TASK, {}, {"trials_config": {"num_trials": 4}}, Overrides(), "there are 4",
            id="trials of the run",
        ),
        pytest.param(
            TASK, {}, None, Overrides(num_trials=5), "there are 5",
            id="trials of the command line",
        ),
        pytest.param(
            {"type": "system_task", "compute_evidence_snippet": "def compute_evidence(): pass"},
            {}, None, Overrides(), "has no samples whose results could vary", id="system task",
        ),
        pytest.param(
            TASK, {"repeatability": {"num_runs": 1}}, None, Overrides(), "1 is not at least 2",
            id="one run",
        ),
    ],
)  # fmt: skip
def test_what_it_can_not_be_combined_with(
    engine, definition, specification, run_config, overrides, complaint
):
    specification = {"repeatability": {"num_runs": 2}, **specification}
    file = engine.write(
        definition, DATA, models=[DOCUMENTED], specification=specification, run_config=run_config
    )
    with pytest.raises(DefinitionErrors, match=complaint):
        resolve(file, overrides)


def test_trials_of_the_task_can_be_turned_off_for_it(engine):
    task = {**TASK, "trials": {"num_trials": 4}}
    ran = repeated(engine, 2, task, specification={"trials": {"num_trials": 1}})
    assert ran.spec["n_rows"] == 6


def test_a_gate_on_a_metrics_key_is_for_its_mean_not_its_spread(engine):
    metrics = repeated(engine, 5).result["metrics"]
    spec = SpecOutcome("exam", 15, 0, calls=15)
    gates = [
        ("mean_is_correct", 0.8, 0),
        ("mean_is_correct", 0.95, 1),
        ("is_correct_mean_std", 0.1, 0),
    ]
    for name, least, code in gates:
        settings = RunSettings(engine.store, fail_under={name: least})
        assert judge_run([spec], metrics, settings).exit_code == code
