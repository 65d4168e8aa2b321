"""Trials through the whole engine: how often is asked, what is stored, aggregated, counted."""

import json

import pytest

from tasks_lib.models.ledger import entries
from tasks_lib.resolve import Overrides
from tests.engine import ASK, EQUALS, python_scorer, saying
from tests.steps.trials import DATA, means, task


def test_every_sample_is_solved_and_scored_in_every_trial_and_metrics_use_aggregates(engine):
    ran = engine.run(task(), DATA, models=[saying(["5", "5", "4", "5"], ["4"])])
    trials = ran.trials()
    assert list(trials["trial"]) == [0, 1, 2, 3] * 2
    assert list(trials["is_correct"]) == [0, 0, 1, 0, 1, 1, 1, 1]
    assert list(ran.aggregates()["is_correct"]) == [0.25, 1.0]
    row = ran.metrics["is_correct_mean"]
    assert (row["value"], row["n"], row["n_total"], row["ci_method"]) == (0.625, 2, 2, "t")
    assert list(ran.run.samples()["output_text"]) == ["5", "5", "4", "5", "4", "4", "4", "4"]
    spec = ran.spec
    assert (spec["num_trials"], spec["n_samples"], spec["n_rows"]) == (4, 2, 8)
    assert ran.run.record["calls"]["total"] == 8


def test_br_068_trials_are_asked_for_apart_and_more_of_them_ask_for_the_difference(engine):
    said = saying([f"r{n}" for n in range(1, 8)])
    first = engine.run(task(trials=5), DATA[:1], models=[said])
    assert engine.requests(first) == 5
    assert list(first.run.samples()["output_text"]) == ["r1", "r2", "r3", "r4", "r5"]
    assert list(first.run.samples()["trial"]) == [0, 1, 2, 3, 4]
    second = engine.run()
    assert engine.requests(second) == 0
    assert list(second.run.samples()["output_text"]) == ["r1", "r2", "r3", "r4", "r5"]
    more = engine.run(overrides=Overrides(num_trials=7))
    assert [entry.call.trial for entry in entries(engine.store, more.run.folder.run_id)] == [5, 6]
    assert list(more.run.samples()["output_text"]) == [f"r{n}" for n in range(1, 8)]


def test_br_069_every_generation_is_scored(engine):
    aggregators = [
        ("is_correct", "unbiased_pass@k", {"k": k, "score_name": f"pass@{k}"}) for k in (1, 2)
    ]
    scorer = means("is_correct", "pass@1", "pass@2")
    ran = engine.run(
        task(*aggregators, scorers=[scorer]), DATA[:1], models=[saying(["5", "5", "4", "5"])]
    )
    assert list(ran.trials()["is_correct"]) == [0, 0, 1, 0]
    assert ran.values == {"is_correct": 0.25, "pass@1": 0.25, "pass@2": 0.5}


def test_br_069_an_errored_trial_lowers_n_and_too_few_for_k_are_an_error(engine):
    aggregators = [("ok", "unbiased_pass@k", {"k": k, "score_name": f"pass@{k}"}) for k in (2, 4)]
    scorer = python_scorer(
        "def compute_scores(sample, solver_output):\n"
        "    said = solver_output.output.choices[0].message.content\n"
        "    return {'ok': {'y': True, 'n': False}[said]}\n",
        "ok",
        "pass@2",
        "pass@4",
    )
    model = saying(["y", "broken", "n", "n"], ["y", "n", "n", "n"])
    ran = engine.run(task(*aggregators[:1], scorers=[scorer]), DATA, models=[model])
    assert list(ran.aggregates()["pass@2"]) == [pytest.approx(2 / 3), pytest.approx(0.5)]
    assert '"failed_trials":1' in ran.aggregates()["metadata"].iloc[0]
    assert ran.spec["n_error"] == 1
    ran = engine.run(task(*aggregators, scorers=[scorer]), DATA, models=[model])
    error, fine = ran.aggregates()["error_message"]
    assert error.startswith("unbiased_pass@4 needs 4 trials, and 3 were scored")
    assert fine is None or fine != fine
    assert ran.metrics["pass@4"]["n_error"] == 1
    assert ran.values["pass@4"] == 1.0
    assert ran.spec["n_error"] == 4
    assert ran.result["exit_code"] == 3


def test_documented_aggregator_is_read_by_a_metric_of_its_name(engine):
    """The guide's example: an aggregator named `pass^3` beside `field: "pass^3"`."""
    definition = task(
        ("is_correct", "pass^k", {"k": 3, "score_name": "pass^3"}),
        trials=3,
        scorers=[means("pass^3", "is_correct")],
    )
    ran = engine.run(definition, DATA[:1], models=[saying(["4", "4", "5"])])
    assert ran.values == {"pass^3": pytest.approx(8 / 27), "is_correct": pytest.approx(2 / 3)}


def test_aggregators_apply_to_every_scorer_that_gives_the_score(engine):
    other = {**EQUALS, "key": "other", "ground_truth": "5"}
    definition = task(("is_correct", "max", {}), trials=2, scorers=[EQUALS, other])
    ran = engine.run(definition, DATA[:1], models=[saying(["4", "5"])])
    for key in ("right", "other"):
        assert list(ran.aggregates(key)["is_correct.max"]) == [1.0]
        assert list(ran.aggregates(key)["is_correct"]) == [0.5]


def test_an_aggregator_of_a_score_nobody_gives_is_told(engine):
    ran = engine.run(task(("is_corect", "max", {})), DATA, models=[saying(default="4")])
    assert ran.result["warnings"] == [
        "exam: no scorer gives the score 'is_corect' that trials aggregate"
    ]


def test_text_scores_are_kept_per_trial_and_have_no_aggregate(engine):
    scorer = python_scorer("def compute_scores(sample): return {'label': 'x', 'n': 1}", "n")
    ran = engine.run(task(trials=2, scorers=[scorer]), DATA[:1], models=[saying(default="4")])
    assert list(ran.trials()["label"]) == ["x", "x"]
    assert list(ran.aggregates()["label"].isna()) == [True]


def test_an_aggregator_that_can_not_take_a_score_fails_the_sample_and_is_counted(engine):
    scorer = python_scorer("def compute_scores(sample): return {'ok': int(sample['a'])}", "ok")
    definition = task(("ok", "pass@k", {"k": 1}), trials=2, scorers=[scorer])
    data = [{"q": "?", "a": "1"}, {"q": "!", "a": "2"}]
    ran = engine.run(definition, data, models=[saying(default="4")])
    assert list(ran.aggregates()["status"]) == ["ok", "error"]
    assert (ran.metrics["ok"]["n"], ran.metrics["ok"]["n_error"]) == (1, 1)
    assert (ran.spec["n_rows"], ran.spec["n_error"]) == (4, 2)
    assert ran.result["exit_code"] == 3


def test_failed_trials_are_left_out_and_samples_without_any_are_errors_with_bounds(engine):
    failing = {"sample_id": "1", "error": {"status": 400}}
    ran = engine.run(task(), DATA, models=[saying(["4", "4", "4", "5"], failing)])
    row = ran.metrics["is_correct_mean"]
    assert (row["value"], row["n"], row["n_error"]) == (0.75, 1, 1)
    assert (row["bound_low"], row["bound_high"]) == (0.375, 0.875)
    assert "all 4 trials failed" in ran.aggregates()["error_message"].iloc[1]
    assert ran.spec["n_error"] == 4


def test_a_trial_does_not_see_what_code_did_to_the_sample_in_another(engine):
    solver = {
        "type": "python",
        "run_solver_snippet": "async def run_solver(sample, model, trace):\n"
        "    sample['seen'].append('x')\n"
        "    trace.append_user_message(str(len(sample['seen'])))\n"
        "    trace.add_model_response(await model.predict(trace.items))\n"
        "    return trace\n",
    }
    scorer = {"type": "string_equals", "ground_truth": "1"}
    ran = engine.run(
        {**task(scorers=[scorer]), "solver": solver},
        [{"q": "?", "seen": []}],
        models=[saying({"matches": "(.*)", "reply": r"\1"})],
    )
    assert ran.values == {"is_correct_mean": 1.0}


ALL = python_scorer(
    "def compute_scores(samples, outputs):\n"
    "    said = [o.output.choices[0].message.content for o in outputs]\n"
    "    return [{'unique': said.count(text) == 1} for text in said]\n",
    "unique",
    key="all",
) | {"type": "python_all_samples"}


def test_all_samples_scorers_see_each_trial_by_itself(engine):
    definition = task(trials=2, scorers=[ALL, EQUALS])
    ran = engine.run(definition, DATA, models=[saying(["4", "4"], ["4", "5"])])
    assert list(ran.aggregates("all")["unique"]) == [0.5, 0.5]


def test_an_all_samples_scorer_that_fails_in_one_trial_leaves_the_others(engine):
    fails = {**ALL, "compute_scores_snippet": ALL["compute_scores_snippet"].replace(
        "    return", "    assert 'broken' not in said\n    return")}  # fmt: skip
    definition = task(trials=2, scorers=[fails])
    ran = engine.run(definition, DATA, models=[saying(["4", "5"], ["broken", "4"])])
    assert list(ran.aggregates()["unique"]) == [1.0, 1.0]
    assert ran.spec["n_error"] == 2


def test_dataset_tasks_have_trials_of_their_scorers(engine):
    scorer = python_scorer("def compute_scores(sample): return {'n': sample['n']}", "n")
    definition = {"dataset": {"key": "qa"}, "scorers": [scorer], "trials": {"num_trials": 3}}
    ran = engine.run(definition, [{"n": 1}, {"n": 2}])
    assert ran.values == {"n": 1.5}
    assert len(ran.trials()) == 6


@pytest.mark.parametrize("size", [1, 2, 7])
def test_batches_do_not_matter(engine, size):
    definition = task(("is_correct", "pass@k", {"k": 2}), scorers=[EQUALS, ALL])
    data = [{"q": str(n), "a": "4"} for n in range(5)]
    model = saying(*[["4", "5", "4", "5"][n:] for n in range(4)], ["5"])
    whole = engine.run(definition, data, models=[model])
    assert engine.run(batch_size=size).result["metrics"] == whole.result["metrics"]


def test_rescoring_equals_the_run(engine):
    definition = task(("is_correct", "unbiased_pass@k", {"k": 2}), scorers=[EQUALS, ALL])
    first = engine.run(definition, DATA, models=[saying(["5", "5", "4", "5"], ["4"])])
    again = engine.run(rescore=first)
    assert again.result["metrics"] == first.result["metrics"]
    assert (engine.requests(again), again.spec["num_trials"]) == (0, 4)
    assert (
        again.run.scores()
        .drop(columns="metadata")
        .equals(first.run.scores().drop(columns="metadata"))
    )


def test_rescoring_takes_the_recorded_trials_whatever_the_file_says(engine):
    first = engine.run(task(), DATA, models=[saying(["5", "5", "4", "5"], ["4"])])
    again = engine.run(rescore=first, overrides=Overrides(num_trials=2))
    assert again.spec["num_trials"] == 4
    assert again.values == first.values


def test_wide_tables_hold_a_row_per_trial(engine):
    wide = engine.run(task(), DATA, models=[saying(["5", "5", "4", "5"], ["4"])]).run.wide()
    assert list(wide["right.is_correct"]) == [0, 0, 1, 0, 1, 1, 1, 1]


@pytest.mark.parametrize("size", [1, 2])
@pytest.mark.parametrize("other", ["0.5", "'text'"], ids=["a number", "text"])
def test_scores_of_several_kinds_show_no_trace_of_batches(engine, other, size):
    source = f"def compute_scores(sample): return {{'x': sample['b'] or {other}}}"
    definition = {
        "dataset": {"key": "qa"},
        "scorers": [python_scorer(source, "x")],
        "trials": {"num_trials": 2},
    }
    data = [{"b": True}, {"b": False}, {"b": True}]
    whole = engine.run(definition, data, batch_size=3)
    cut = engine.run(batch_size=size)
    assert cut.run.scores().equals(whole.run.scores())
    assert cut.result["metrics"] == whole.result["metrics"]
    assert whole.values["x"] == (5 / 6 if other == "0.5" else 1.0)


def test_a_file_of_traces_holds_one_trial_of_each(engine):
    definition = task(("is_correct", "pass^k", {"k": 2, "score_name": "pass^2"}))
    engine.write(definition, DATA, models=[saying(default="4")])
    file = engine.folder / "traces.jsonl"
    user = {"role": "user", "content": "?"}
    for said in ("4", "5"):
        row = {"a": "4", "trace": [user, {"role": "assistant", "content": said}]}
        with file.open("a") as lines:
            lines.write(json.dumps(row) + "\n")
    ran = engine.run(rescore=file)
    assert ran.values == {"is_correct_mean": 0.5}
    assert (ran.spec["num_trials"], ran.spec["n_rows"]) == (1, 2)


@pytest.mark.parametrize("trials", [1, 2])
def test_samples_that_all_come_to_no_row_leave_metrics_empty(engine, trials):
    nothing = "def postprocess(sample, solver_output): return []"
    solver = {**ASK, "postprocessor": {"type": "python", "postprocess_snippet": nothing}}
    definition = {"dataset": {"key": "qa"}, "solver": solver, "scorers": [EQUALS]}
    ran = engine.run(
        definition,
        DATA,
        models=[saying(default="4")],
        specification={"trials": {"num_trials": trials}},
    )
    assert ran.values == {"is_correct_mean": None}
    assert (ran.spec["n_samples"], ran.spec["n_rows"], ran.spec["n_error"]) == (2, 0, 0)
    assert engine.run(rescore=ran).result["metrics"] == ran.result["metrics"]


def test_a_scorer_that_fails_everywhere_is_not_blamed_for_its_scores(engine):
    failing = python_scorer("def compute_scores(sample): return 1 / 0", "x")
    definition = task(("x", "max", {}), scorers=[failing])
    ran = engine.run(definition, DATA, models=[saying(default="4")])
    assert not any("no scorer gives" in words for words in ran.result["warnings"])
