"""Trials on the real command line: what is asked, planned, shown, resumed and scored again."""

import json
import signal

import pytest

from tests.e2e.lab import ALONE, RUN, TASK, jsonl, mock, questions, same_metrics, until

TRIALS = """\
  trials:
    num_trials: 3
    score_aggregators:
      - {score_name: is_correct, aggregator: {function: "pass^k", k: 3, score_name: "pass^3"}}
"""
METRICS = """\
      metrics:
        - {type: mean, field: is_correct, name: accuracy}
        - {type: mean, field: "pass^3", name: always}
"""
SPLIT = """\
    postprocessor:
      type: python
      postprocess_snippet: |
        def postprocess(sample, solver_output):
            return [({**sample, "part": part}, solver_output) for part in "xy"]
"""
SYSTEM = """\
key: host
display_name: Host
description: Looks at the host.
definition:
  type: system_task
  compute_evidence_snippet: |
    def compute_evidence():
        return {"metrics": {"disk_free": {"value": 0.5, "reason": "half of it"}}}
"""
EQUALS = '    - type: string_equals\n      ground_truth: "{{ sample.target }}"\n'
TRIED = TASK.replace(TASK[TASK.index("    - {type: string_equals") :], EQUALS + METRICS) + TRIALS
TWO = jsonl([{"question": "a?", "target": "4"}, {"question": "b?", "target": "4"}])
SAID = mock(
    [{"replies": ["4", "5", "4", "5", "4"]}, {"replies": ["4", "4", "4", "4", "4"]}]
)  # fmt: skip


@pytest.fixture
def tried(lab):
    lab.write(task_yaml=TRIED, qa_jsonl=TWO, model_yaml=SAID)
    return lab


def test_trials_are_planned_run_and_shown(tried):
    lab = tried
    plan = lab.evalmill("plan", lab.folder / "run.yaml", "--json").json["specs"][0]
    assert (plan["samples"], plan["trials"], plan["runs"]) == (2, 3, 1)
    assert plan["calls"] == {"lab": {"least": 6, "most": 6}}
    words = lab.evalmill("plan", lab.folder / "run.yaml", "--trials", "5").stdout
    assert "task exam on 2 samples of qa, in 5 trials each" in words
    assert "10 calls of lab" in words

    ran = lab.run()
    assert ran.exit_code == 0
    assert ran.metrics["accuracy"]["value"] == pytest.approx((2 / 3 + 1) / 2)
    assert ran.metrics["always"]["value"] == pytest.approx((8 / 27 + 1) / 2)
    assert ran.metrics["accuracy"]["n"] == 2
    assert len(ran.requests()) == 6
    (spec,) = ran.run.record["specs"]
    assert (spec["n_samples"], spec["num_trials"], spec["n_rows"], spec["n_scored"]) == (2, 3, 6, 6)
    assert "3 trials of each of 2 samples" in lab.evalmill("show", "last").stderr

    sample = lab.evalmill("show", "last", "0").stdout
    for trial in range(3):
        assert f"exam  sample 0  trial {trial}" in sample
    assert "exam  sample 0  all trials" in sample
    assert "string_equals: is_correct = 0.6666666666666666, pass^3 = 0.29" in sample
    document = lab.evalmill("show", "last", "0", "--json").json
    assert [row["trial"] for row in document["rows"]] == [0, 1, 2]
    (aggregate,) = document["aggregates"]
    assert aggregate["scores"]["string_equals"]["metadata"] == {"trials": 3, "failed_trials": 0}


def test_br_068_more_trials_ask_for_the_difference(tried):
    assert len(tried.run("--trials", "5").requests()) == 10
    assert tried.run("--trials", "5").requests() == []
    assert len(tried.run("--trials", "7").requests()) == 4
    assert len(tried.run("--trials", "7", "--cache", "no-cache").requests()) == 14


def test_one_trial_on_the_command_line_turns_them_off_also_when_resumed(tried):
    ran = tried.run("--trials", "1", "--run-id", "once")
    (spec,) = ran.run.record["specs"]
    assert (spec["num_trials"], spec["n_rows"]) == (1, 2)
    assert "no score has a field 'pass^3'" in ran.metrics["always"]["reason"]
    again = tried.run("--resume", "once", file=None)
    assert again.exit_code == 0
    assert again.finished.json["metrics"] == ran.finished.json["metrics"]


def test_limit_and_trials_together(tried):
    ran = tried.run("-n", "1", "--trials", "2")
    assert len(ran.requests()) == 2
    (spec,) = ran.run.record["specs"]
    assert (spec["n_samples"], spec["n_rows"]) == (1, 2)


def test_a_killed_run_with_trials_goes_on_to_the_same_end(lab, tmp_path):
    lab.write(task_yaml=TRIED, qa_jsonl=questions(20, wrong=5))
    whole = lab.run("--run-id", "night", store=tmp_path / "whole")
    lab.server.reset(latency_ms=60)
    arguments = ("run", lab.folder / "run.yaml", "--run-id", "night", "-j", "4", *ALONE)
    with lab.evalmill.start(*arguments, cwd=lab.folder) as process:
        until(lambda: lab.asked > 25, "some calls")
        process.send_signal(signal.SIGKILL)
        process.wait()
    ended = lab.run("--resume", "night", file=None)
    assert ended.exit_code == 0
    assert lab.asked <= 60 + 4, "no more is repeated than was in flight"
    assert same_metrics(ended.run, whole.run)


@pytest.mark.parametrize("more", ["", SPLIT], ids=["trials", "trials and a postprocessor"])
def test_rescoring_equals_the_run(tried, more):
    lab = tried
    lab.write(task_yaml=TRIED.replace("  scorers:\n", f"{more}  scorers:\n"))
    ran = lab.run("--run-id", "first")
    again = lab.evalmill(
        "rescore", "first", lab.folder / "run.yaml", "--json", *ALONE, cwd=lab.folder
    )
    assert again.exit_code == 0, again.stderr
    assert again.json["metrics"] == ran.finished.json["metrics"]
    if more:
        shown = lab.evalmill("show", "first", "0").stdout
        assert "sample 0#0  trial 0" in shown
        assert "sample 0#1  all trials" in shown
        assert "sample 0#1  trial 2" in lab.evalmill("show", "first", "0#1").stdout


REPEATED = RUN.replace("model_key: lab}", "model_key: lab, repeatability: {num_runs: 5}}")


def test_repeatability_is_planned_run_and_shown(lab):
    lab.write(run_yaml=REPEATED, qa_jsonl=TWO, model_yaml=SAID)
    words = lab.evalmill("plan", lab.folder / "run.yaml").stdout
    assert "in 5 runs (repeatability)" in words
    assert "10 calls of lab" in words
    ran = lab.run()
    assert ran.metrics["is_correct_mean_mean"]["value"] == pytest.approx(0.8)
    assert ran.metrics["is_correct_agreement_mean"]["value"] == pytest.approx(0.8)
    assert "5 runs of the same 2 samples" in lab.evalmill("show", "last").stderr
    wrong = lab.evalmill("run", lab.folder / "run.yaml", "--trials", "2", *ALONE)
    assert wrong.exit_code == 2
    assert "repeatability can't be combined with trials, and there are 2" in wrong.stderr


def test_system_tasks_stand_beside_others_with_and_without_prefect(tried, prefect_server):
    lab = tried
    lab.write(
        host_yaml=SYSTEM,
        run_yaml=RUN.replace("tasks: [", "tasks: [{$ref: host.yaml}, ")
        + "    - {task_key: host}\n",
    )
    plan = lab.evalmill("plan", lab.folder / "run.yaml")
    assert "task host, which has no samples" in plan.stdout, plan.stderr
    assert lab.evalmill("check", lab.folder / "host.yaml").exit_code == 0
    alone = lab.run()
    conducted = lab.run("--no-progress", conductor=(), env={"PREFECT_API_URL": prefect_server.url})
    for ran in (alone, conducted):
        assert ran.exit_code == 0, ran.stderr
        assert ran.metrics["disk_free"]["value"] == 0.5
        assert ran.metrics["disk_free"]["reason"] == "half of it"
        assert ran.metrics["accuracy"]["n"] == 2
    rescored = lab.evalmill(
        "rescore", alone.run_id, lab.folder / "run.yaml", "--json", *ALONE, cwd=lab.folder
    )
    assert rescored.json["metrics"] == alone.finished.json["metrics"]


def test_a_system_task_runs_by_itself_and_its_failure_is_no_success(lab):
    lab.write(host_yaml=SYSTEM)
    assert lab.run(file="host.yaml").value == 0.5
    lab.write(host_yaml=SYSTEM.replace("return {", "return 1 / 0, {"))
    failed = lab.run(file="host.yaml")
    assert failed.exit_code == 3
    assert "ZeroDivisionError" in failed.stderr
    assert "host.yaml:8" in failed.stderr


JUDGED = """\
    - type: model_as_a_judge_classifier
      key: judge
      model_key: judge
      correct_labels: [correct]
      incorrect_labels: [incorrect]
      user_prompt: "Is {{ trace.get_last_assistant_text() }} of {{ sample.part }} right?"
"""
JUDGE = {
    "key": "judge",
    "display_name": "Judge",
    "config": {
        "connection_type": "mock",
        "rules": [
            {"contains": "5 of", "reply": "incorrect"},
            {"contains": "4 of x", "reply": "correct"},
            {"contains": "4 of y", "reply": "incorrect"},
        ],
    },
}


@pytest.mark.parametrize("form", ["open_responses", "latticeflow"])
def test_judges_see_each_row_of_each_trial(tried, form):
    lab = tried
    solver = f"    message_format: {form}\n{SPLIT}  scorers:\n{JUDGED}"
    lab.write(
        task_yaml=TRIED.replace("  scorers:\n", solver),
        judge_yaml=json.dumps(JUDGE),
        run_yaml=RUN.replace("models: [", "models: [{$ref: judge.yaml}, "),
    )
    ran = lab.run()
    assert ran.exit_code == 0, ran.stderr
    assert ran.metrics["is_correct_mean"]["value"] == pytest.approx((2 / 3 + 0 + 1 + 0) / 4)
    assert len(ran.requests()) == 6 + 12, "six of the model, twelve of the judge"
    scores = ran.run.scores("judge")
    aggregates = scores[scores["trial"].isna()]
    assert list(aggregates["sample_id"]) == ["0#0", "0#1", "1#0", "1#1"]
    again = lab.evalmill(
        "rescore", ran.run_id, lab.folder / "run.yaml", "--json", *ALONE, cwd=lab.folder
    )
    assert again.json["metrics"] == ran.finished.json["metrics"]
