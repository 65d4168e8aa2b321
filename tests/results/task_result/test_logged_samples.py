"""Logs that other tools have written, or that are none."""

import json

import pytest

from tasks_lib.errors import DefinitionErrors, EvalmillError
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import resolve
from tests.engine import ASK, EQUALS, saying
from tests.results.task_result.logs import run_file

TASK = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
TRACE = {
    "FORMAT": "open_responses",
    "items": [
        {"type": "message", "id": "", "status": "completed", "role": role, "content": [part]}
        for role, part in (
            ("user", {"type": "input_text", "text": "2 + 2"}),
            ("assistant", {"type": "output_text", "text": "4"}),
        )
    ],
}
CHAT = {"choices": [{"message": {"role": "assistant", "content": "4"}}]}


def score(value, key="right", **more):
    return {"scorer_key": key, "values": {"is_correct": value}, **more}


def trial(number, *scores, output=None, errors=()):
    return {
        "index": number,
        "sample_id": 7,
        "sample": {"data": {"q": "2 + 2", "a": "4"}},
        "solver": None if output is None else {"output": output},
        "scores": list(scores),
        "errors": list(errors),
    }


def sample(*trials, **more):
    return {"sample_id": 7, "sample": None, "solver": None, "scores": None, **more} | {
        "trials": list(trials)
    }


def mean(value, key="right"):
    return {
        "values": {"is_correct_mean": value},
        "metric_key": "mean",
        "metric_type": "mean",
        "scorer_key": key,
    }


def log(samples=None, metrics=None, **more):
    return {
        "format_version": "v1",
        "app_version": "3.17.0",
        "status": "success",
        "evidence": {
            "metrics": metrics,
            "samples": samples,
            "runs": None,
            "errors": [],
            "failures": {"num_errors": 0, "num_total": len(samples or ())},
            "model_token_usages": [],
        },
        "specification": {},
        "execution": {},
        "errors": [],
        **more,
    }


def error(stage, message="went wrong", kind="ValueError", hint=None):
    return {"stage": stage, "error_type": kind, "message": message, "hint": hint}


@pytest.fixture
def load(engine):
    """Write a log, and run an evaluation that takes its results over."""

    def loaded(document):
        (engine.folder / "logs").mkdir(exist_ok=True)
        text = document if isinstance(document, str) else json.dumps(document, indent=1)
        (engine.folder / "logs" / "log.json").write_text(text)
        engine.write(
            TASK,
            models=[saying()],
            specification={"task_result_log_path": "logs/log.json"},
        )
        return run_file(engine, engine.folder / "run.yaml", "loaded")

    return loaded


@pytest.mark.parametrize(
    "output",
    [
        {"trace": TRACE, "raw_outputs": [CHAT], "direct_ios": []},
        {"trace": TRACE["items"], "raw_outputs": [CHAT]},
        {
            "messages": [
                {"role": "user", "content": "2 + 2"},
                {"role": "assistant", "content": "4"},
            ],
            "output": CHAT,
        },
        {"solver_outputs": [{"trace": TRACE, "raw_outputs": [CHAT]}]},
        {"solver_outputs": {"only": {"trace": TRACE, "raw_outputs": [CHAT]}}},
    ],
    ids=["trace", "bare items", "older form", "group", "named group"],
)
def test_solver_outputs_of_every_form_become_traces(load, output):
    ran = load(log([sample(trial(0, score(True), output=output))], [mean(1.0)]))
    (row,) = ran.run.samples().to_dict("records")
    assert (row["sample_id"], row["output_text"], row["status"]) == ("7", "4", "ok")
    assert json.loads(row["trace"])["items"][1]["content"][0]["text"] == "4"
    assert json.loads(row["raw_outputs"]) == [CHAT]
    assert list(ran.run.scores()["is_correct"]) == [True]
    assert ran.run.record["calls"]["total"] == 0


def test_a_plain_map_of_metrics_is_one_metric(load):
    ran = load(log([sample(trial(0, score(True)))], {"accuracy": 0.5, "speed": 2}))
    assert ran.values == {"accuracy": 0.5, "speed": 2.0}
    assert {row["metric_key"] for row in ran.result["metrics"]} == {"task_metric"}
    assert {row["scorer_key"] for row in ran.result["metrics"]} == {"task_scorer"}


def test_rows_behind_a_metric_are_counted_where_the_log_doesnt_say(load):
    broken = trial(0, errors=[error("solver", "overloaded", "ServerError", "try later")])
    wrong = trial(0, errors=[error("score", "no label")])
    rule = {"action": "exclude_from_metrics", "rule_key": "odd"}
    ran = load(
        log(
            [
                sample(trial(0, score(True))),
                sample(trial(0, score(False)), action_records=[rule]),
                sample(broken),
                sample(wrong),
            ],
            [mean(1.0)],
        )
    )
    row = ran.metrics["is_correct_mean"]
    assert [row[name] for name in ("value", "n", "n_total", "n_error", "n_excluded")] == [
        1.0,
        1,
        4,
        2,
        1,
    ]
    assert [ran.spec[name] for name in ("n_scored", "n_error", "n_excluded")] == [1, 2, 1]
    assert ran.result["exit_code"] == 3
    rows = ran.run.samples()
    assert list(rows["status"]) == ["ok", "ok", "error", "ok"]
    assert rows["error_stage"][2] == "solver"
    assert rows["error_message"][2] == "ServerError: overloaded; try later"
    scores = ran.run.scores()
    assert list(scores["status"]) == ["ok", "ok", "error", "error"]
    assert list(scores["error_class"])[2:] == ["model", "code"]
    assert scores["error_message"][3] == "ValueError: no label"
    assert [list(rules) for rules in scores["action_rules"]] == [[], ["odd"], [], []]


def test_trials_of_a_log_stay_trials(load):
    both = [trial(0, score(True)), trial(1, score(False))]
    ran = load(log([sample(*both, scores=[score(0.5)])], [mean(0.5)]))
    assert (ran.spec["num_trials"], ran.spec["n_rows"]) == (2, 2)
    assert list(ran.trials()["is_correct"]) == [1.0, 0.0]
    assert list(ran.aggregates()["is_correct"]) == [0.5]
    assert ran.metrics["is_correct_mean"]["n"] == 1


def test_samples_without_a_list_of_trials_are_read_as_they_are(load):
    plain = {**trial(0, score(True), output={"trace": TRACE}), "index": None}
    ran = load(log([plain], [mean(1.0)]))
    assert list(ran.run.samples()["output_text"]) == ["4"]
    assert list(ran.run.scores()["is_correct"]) == [True]


def test_a_trace_that_is_none_is_an_error_of_that_sample(load):
    ran = load(
        log([sample(trial(0, output={"trace": {"items": 5}})), sample(trial(0, score(True)))])
    )
    assert list(ran.run.samples()["status"]) == ["error", "ok"]
    assert ran.run.samples()["error_stage"][0] == "dataset"
    assert list(ran.run.scores()["status"]) == ["error", "ok"]


def test_metrics_without_samples_are_taken_over(load):
    ran = load(log(None, [mean(0.25)]))
    assert ran.values == {"is_correct_mean": 0.25}
    assert ran.result["exit_code"] == 0


def test_a_task_that_failed_as_a_whole_fails_here_too(load):
    failed = log(evidence=None, status="failure", errors=[error("dataset", "no such dataset")])
    ran = load(failed)
    assert (ran.result["status"], ran.result["exit_code"]) == ("failed", 3)
    assert "exam: the log says: no such dataset" in ran.result["warnings"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "ends too early"),
        ("[1]", "stands where { should"),
        ('{"format_version": "v1"', "ends too early"),
        ("{}", "missing 'format_version'"),
        (json.dumps(log(format_version="v2")), "format_version is 'v2'"),
        (json.dumps(log([5])), r"samples\[0\]: 5 is not an object"),
        (json.dumps(log([sample(trial("x"))])), r"samples\[0\]\.trials\[0\]\.index"),
        (json.dumps(log([sample(trial(0, {"values": {}}))])), "missing 'scorer_key'"),
        (json.dumps(log([], [{"values": {}}])), "missing 'metric_key'"),
        (json.dumps(log([sample(trial(0, score(True, "../up")))])), "can't be a scorer's key"),
    ],
)
def test_what_is_no_log_is_told_before_anything_is_done(load, engine, text, problem):
    with pytest.raises(EvalmillError, match=problem) as caught:
        load(text)
    assert "log.json" in str(caught.value)
    assert not (engine.store / "runs").exists()


def test_a_log_that_is_missing_is_told(engine):
    file = engine.write(
        TASK, models=[saying()], specification={"task_result_log_path": "none.json"}
    )
    with pytest.raises(DefinitionErrors, match=r"none\.json: can't be read: No such file"):
        open_rows(resolve(file))
