"""Action rules through the whole engine: what is excluded, what is counted, what is told."""

import pytest

from tests.engine import ASK, EQUALS, python_scorer, saying

DATA = [{"q": str(n), "a": "yes", "n": n} for n in range(4)]
MODEL = saying(["yes"], ["no"], ["yes"], ["no"])
QA = python_scorer(
    "def compute_scores(sample): return {'odd': sample['n'] % 2 == 1}",
    "odd",
    key="qa",
    purpose="qa",
)
TASK = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS, QA]}


def rule(key, expression, op="is_true", **more):
    filter = {"op": op, "expression": expression, **more}
    return {"key": key, "action": "exclude_from_metrics", "filter": filter}


def ruled(engine, *rules, task=TASK, model=MODEL, data=DATA, **more):
    return engine.run({**task, "actions": list(rules)}, data, models=[model], **more)


def test_a_matching_row_is_left_out_of_all_metrics_and_stays_with_the_rules_keys(engine):
    ran = ruled(
        engine,
        rule("late", "{{ sample.n }}", "greater_than", value=1),
        rule("last", "{{ sample.n }}", "equals", value="3"),
    )
    assert ran.values == {"is_correct_mean": 0.5, "odd": 0.5, "num_excluded_from_metrics": 2.0}
    for row in ran.metrics.values():
        assert (row["n_total"], row["n_excluded"]) == (4, 2)
    for key in ("right", "qa"):
        scores = ran.run.scores(key)
        assert list(scores["excluded"]) == [False, False, True, True]
        assert [list(keys) for keys in scores["action_rules"]] == [
            [],
            [],
            ["late"],
            ["late", "last"],
        ]
        assert list(scores["status"]) == ["ok"] * 4
    assert ran.spec["n_excluded"] == 2
    assert ran.spec["n_scored"] == 2


def test_the_count_of_excluded_rows_is_a_metric_of_the_task(engine):
    row = ruled(engine, rule("odd", "{{ scores.qa.odd }}")).metrics["num_excluded_from_metrics"]
    assert (row["scorer_key"], row["metric_key"], row["value"]) == ("actions", "actions", 2.0)


@pytest.mark.parametrize(
    ("expression", "excluded"),
    [
        pytest.param("{{ scores.right.is_correct }}", [0, 2], id="scores of a scorer"),
        pytest.param("{{ scores.qa.odd }}", [1, 3], id="scores of a qa scorer"),
        pytest.param("{{ sample.n == 1 }}", [1], id="the sample"),
        pytest.param("{{ solver_output.output.choices[0].message.content == 'no' }}", [1, 3],
                     id="the solver's output"),
    ],
)  # fmt: skip
def test_rules_see_sample_output_and_every_scorers_scores(engine, expression, excluded):
    scores = ruled(engine, rule("r", expression)).run.scores("right")
    assert list(scores[scores["excluded"]]["sample_index"]) == excluded


def test_a_rule_that_fails_on_a_row_leaves_it_in_and_is_told(engine):
    model = saying(["yes"], {"sample_id": "1", "error": {"status": 400}}, ["yes"], ["no"])
    ran = ruled(engine, rule("wrong", "{{ scores.right.is_correct }}", "is_false"), model=model)
    assert list(ran.run.scores("right")["excluded"]) == [False, False, False, True]
    assert ran.values["is_correct_mean"] == 1.0
    (told,) = [words for words in ran.result["warnings"] if "rule 'wrong'" in words]
    assert "failed on 1 row, which stay in the metrics; sample '1': " in told


def test_a_failed_row_may_be_excluded_and_still_counts_as_an_error(engine):
    model = saying(["yes"], {"sample_id": "1", "error": {"status": 400}}, ["yes"], ["no"])
    ran = ruled(engine, rule("unscored", "{{ scores.right }}", "not_exists"), model=model)
    assert ran.values["num_excluded_from_metrics"] == 1.0
    assert ran.metrics["is_correct_mean"]["n_error"] == 1
    spec = ran.spec
    assert (spec["n_rows"], spec["n_scored"], spec["n_error"], spec["n_excluded"]) == (4, 3, 1, 0)
    assert ran.result["exit_code"] == 3


def test_when_everything_is_excluded_each_metric_is_empty(engine):
    ran = ruled(engine, rule("all", "{{ sample.n }}", "exists"))
    assert ran.values == {"is_correct_mean": None, "odd": None, "num_excluded_from_metrics": 4.0}
    assert "no scored rows" in ran.metrics["is_correct_mean"]["reason"]


TRIALS = {**TASK, "trials": {"num_trials": 2}}
VARYING = saying(["yes", "yes"], ["no", "yes"], ["no", "no"], ["no", "no"])


def test_with_trials_rules_see_aggregated_scores(engine):
    ran = ruled(
        engine,
        rule("torn", "{{ scores.right['is_correct'] }}", "equals", value=0.5),
        task=TRIALS,
        model=VARYING,
    )
    aggregates = ran.aggregates("right")
    assert list(aggregates["excluded"]) == [False, True, False, False]
    assert not ran.trials()["excluded"].any()
    assert ran.values["is_correct_mean"] == pytest.approx(1 / 3)
    assert ran.values["num_excluded_from_metrics"] == 1.0
    spec = ran.spec
    assert (spec["n_rows"], spec["n_scored"], spec["n_excluded"]) == (8, 6, 2)


def test_with_trials_there_is_no_solver_output(engine):
    ran = ruled(engine, rule("r", "{{ solver_output }}", "exists"), task=TRIALS, model=VARYING)
    assert ran.values["num_excluded_from_metrics"] == 0.0


SPLIT = """
def postprocess(sample, solver_output):
    return [({"q": sample["q"], "part": part}, solver_output) for part in ("x", "y")]
"""


@pytest.mark.parametrize("trials", [1, 2])
def test_rules_see_the_samples_that_a_postprocessor_made(engine, trials):
    solver = {**ASK, "postprocessor": {"type": "python", "postprocess_snippet": SPLIT}}
    scorer = python_scorer("def compute_scores(sample): return {'x': sample['part'] == 'x'}", "x")
    failing = {"sample_id": "0", "replies": ["yes"], "error": {"status": 503, "times": 1}}
    ran = ruled(
        engine,
        rule("second", "{{ sample.part }}", "equals", value="y"),
        task={"dataset": {"key": "qa"}, "solver": solver, "scorers": [scorer]},
        model=saying(failing, default="yes"),
        data=DATA[:2],
        specification={"trials": {"num_trials": trials}},
    )
    assert ran.values == {"x": 1.0, "num_excluded_from_metrics": 2.0}


def test_of_a_trial_that_failed_and_one_that_did_not_the_made_sample_is_seen(engine):
    snippet = """
def postprocess(sample, solver_output):
    if sample["n"] and solver_output.output.choices[0].message.content == "no":
        raise ValueError("no")
    return [({"made": True}, solver_output)]
"""
    solver = {**ASK, "postprocessor": {"type": "python", "postprocess_snippet": snippet}}
    scorer = python_scorer("def compute_scores(sample): return {'x': 1}", "x")
    ran = ruled(
        engine,
        rule("made", "{{ sample.made }}", "is_true"),
        task={"dataset": {"key": "qa"}, "solver": solver, "scorers": [scorer]},
        model=VARYING,
        data=DATA[:2],
        specification={"trials": {"num_trials": 2}},
    )
    assert list(ran.aggregates()["excluded"]) == [True, True]
