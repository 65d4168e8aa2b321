"""What `run` promises: its flags, its exit codes, what it prints where."""

import json
import re

import pytest

from tests.e2e.lab import ALONE, RUN, TASK, dataset, model, questions

CONFIGURED = """\
models: [{$ref: model.yaml}, {$ref: other.yaml}]
tasks: [{$ref: task.yaml}]
datasets: [{$ref: qa.yaml}]
evaluation:
  key: nightly
  display_name: Nightly
  config_spec:
    - {type: model, key: model, display_name: Model, usage: model_under_test}
    - {type: string, key: tone, display_name: Tone, default_value: kindly}
  task_specifications:
    - task_key: exam
      model_key: << config.model >>
      task_config: {tone: << config.tone >>}
config: {model: lab}
"""

ASKED_IN_A_TONE = TASK.replace(
    "definition:",
    "config_spec: [{type: string, key: tone, display_name: Tone}]\ndefinition:",
).replace('"{{ sample.question }}"', '"<< config.tone >>: {{ sample.question }}"')


def test_flags_say_who_is_asked_what_how_often_and_where_it_is_kept(lab, tmp_path):
    lab.write(
        run_yaml=CONFIGURED,
        task_yaml=ASKED_IN_A_TONE,
        model_yaml=model("$LAB_URL", more="parameters: {temperature: 0, max_tokens: 9}"),
        other_yaml=model(lab.server.base_url, "other"),
        lab_env=f"LAB_URL={lab.server.base_url}\n",
    )
    lab.server.reset(latency_ms=30)
    ran = lab.run(
        "--env", "lab.env", "--set", "tone=curtly", "-n", "6", "--subsampling", "random",
        "--run-id", "mine", "-j", "2", "--batch-size", "3", "--trials", "1",
        store=tmp_path / "elsewhere",
    )  # fmt: skip
    assert ran.exit_code == 0, ran.stderr
    assert ran.run_id == "mine"
    assert ran.run.folder.path == tmp_path / "elsewhere" / "runs" / "mine"
    ids = [int(sample) for sample in ran.run.samples()["sample_id"]]
    assert len(set(ids)) == 6
    assert ids == sorted(ids)
    assert ids != list(range(6)), "a random choice, in the dataset's order"
    assert len(list(ran.run.folder.samples("exam").iterdir())) == 2
    assert lab.server.stats()["max_in_flight"] == 2
    first = ran.requests()[0]
    assert (first["model"], first["temperature"], first["max_tokens"]) == ("lab-1", 0, 9)
    assert all(prompt.startswith("curtly: ") for prompt in ran.prompts())

    other = lab.run("-m", "other", "--subsampling", "head", "-n", "2", store=tmp_path / "elsewhere")
    assert other.exit_code == 0, other.stderr
    assert [request["model"] for request in other.requests()] == ["other-1", "other-1"]
    assert other.prompts()[0].startswith("kindly: Number 0")


def test_stdout_holds_one_document_and_stderr_ends_with_result_and_run(lab):
    ran = lab.run("-v", "--fail-under", "is_correct_mean=0.7", conductor=("--no-prefect",))
    assert ran.exit_code == 0
    assert ran.finished.stdout.count("\n") == 1
    document = json.loads(ran.finished.stdout)
    assert document["status"] == "complete"
    assert document["exit_code"] == 0
    (row,) = document["metrics"]
    assert (row["value"], row["n"], row["n_total"], row["ci_method"]) == (0.75, 12, 12, "wilson")
    assert row["ci_low"] < 0.75 < row["ci_high"]
    assert ran.last_line.startswith(f"complete: run {ran.run_id}")
    assert re.fullmatch(r"\d{8}T\d{6}Z-nightly-[0-9a-f]{6}", ran.run_id)

    failed = lab.evalmill(
        "run", lab.folder / "run.yaml", *ALONE, "--fail-under", "mean_is_correct=0.8"
    )
    assert failed.exit_code == 1, "the replies are right often, not often enough"
    assert "0.75" in failed.stdout
    assert "gate failed" in failed.stderr
    assert failed.stderr.splitlines()[-1].startswith("complete, a gate failed: run ")
    assert "\x1b" not in failed.stdout + failed.stderr, "no colours where there is no terminal"
    assert lab.asked == 12, "the second run is answered by the ledger"


def test_a_gate_fails_on_a_metric_that_the_end_shows_to_be_missing(lab):
    frequency = "metrics: [{type: frequency, field: is_correct}]"
    lab.write(task_yaml=TASK.replace('.target }}"}', f'.target }}}}", {frequency}}}'))
    ran = lab.run("--fail-under", "is_correct_Maybe=0.1", "-n", "1")
    assert ran.exit_code == 1
    assert "no metric is named 'is_correct_Maybe' (metrics: is_correct_True)" in ran.stderr


WRONG = {
    "misspelt key": {"task_yaml": TASK.replace("scorers", "scorrers")},
    "a template that is none": {"task_yaml": TASK.replace("{{ sample.question }}", "{{ sample. }")},
    "no data file": {"qa_yaml": dataset("gone.jsonl")},
    "no samples": {"qa_jsonl": "\n\n"},
    "missing secret": {
        "model_yaml": model("http://127.0.0.1:9/v1").replace(
            "model_key", "api_key: $LAB_KEY_THAT_IS_NOT_SET\n  model_key"
        )
    },
    "unknown model": {"run_yaml": RUN.replace("model_key: lab", "model_key: lap")},
    "no YAML": {"task_yaml": TASK + "\n  - ]"},
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_files_end_at_once_with_the_place_and_nothing_called(lab, what):
    lab.write(**WRONG[what])
    ran = lab.evalmill("run", lab.folder / "run.yaml", *ALONE, "--json")
    assert ran.exit_code == 2, ran.stderr
    assert ran.stdout == ""
    assert "Traceback" not in ran.stderr
    assert re.search(r"(yaml|jsonl)(:\d+)?: |LAB_KEY_THAT_IS_NOT_SET|has no samples", ran.stderr), (
        ran.stderr
    )
    assert lab.asked == 0
    assert not (lab.evalmill.store / "runs").exists() or not any(
        (folder / "complete").exists() for folder in (lab.evalmill.store / "runs").iterdir()
    )


def test_everything_wrong_is_said_at_once(lab):
    lab.write(
        task_yaml=TASK.replace("scorers", "scorrers").replace("display_name: Exam", "name: Exam"),
        qa_yaml=dataset(more=", rows: 3"),
    )
    ran = lab.evalmill("run", lab.folder / "run.yaml", *ALONE)
    assert ran.exit_code == 2
    for words in ("scorrers", "'name'", "display_name", "rows"):
        assert words in ran.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("run",),
        ("run", "nowhere.yaml"),
        ("run", "run.yaml", "--set", "tone"),
        ("run", "run.yaml", "--cache", "sometimes"),
        ("run", "run.yaml", "--fail-under", "x=much"),
        ("run", "run.yaml", "--run-id", "../up"),
        ("run", "run.yaml", "-n", "0"),
        ("run", "run.yaml", "--colour"),
        ("run", "--resume", "never-was"),
        ("sing",),
    ],
    ids=" ".join,
)
def test_wrong_flags_are_refused_and_nothing_called(lab, arguments):
    ran = lab.evalmill(*arguments, cwd=lab.folder)
    assert ran.exit_code == 2, ran.stderr
    assert ran.stdout == ""
    assert ran.stderr.strip()
    assert "Traceback" not in ran.stderr
    assert lab.asked == 0


ODD_SCORER = """\
    - type: python
      key: odd
      compute_scores_snippet: |
        def compute_scores(sample, solver_output):
            number = int(sample["question"].split("?")[0].split()[-1])
            return {"inverse": (number - 2) / (number - 2)}
      metrics: [{type: mean, field: inverse}]
"""


def test_rows_that_fail_are_errors_not_zeros_and_decide_the_exit_code(lab):
    lines = questions(12, wrong=3).replace("Number 1?", "FAULT=400 1?")
    lab.write(qa_jsonl=lines, task_yaml=TASK + ODD_SCORER)
    ran = lab.run()
    assert ran.exit_code == 3
    assert ran.last_line.startswith("complete, too many rows failed: run ")
    assert "2 of 12 rows failed, more than the 0.0% allowed" in ran.stderr
    assert "1 row failed in the solver (model error), first sample '1': " in ran.stderr
    assert "1 row failed in the scorer odd (code error), first sample '2'" in ran.stderr
    assert "ZeroDivisionError" in ran.stderr
    right, odd = ran.metrics["is_correct_mean"], ran.metrics["inverse_mean"]
    assert right["value"] == pytest.approx(8 / 11)
    assert (right["n"], right["n_total"], right["n_error"]) == (11, 12, 1)
    assert (right["bound_low"], right["bound_high"]) == pytest.approx((8 / 12, 9 / 12))
    assert (odd["value"], odd["n"], odd["n_error"]) == (1.0, 10, 2)
    (spec,) = ran.run.record["specs"]
    assert {name: spec[name] for name in ("n_rows", "n_scored", "n_error")} == {
        "n_rows": 12, "n_scored": 10, "n_error": 2,
    }  # fmt: skip

    allowed = lab.run("--max-error-rate", "0.2", "--fail-under", "is_correct_mean=0.6")
    assert allowed.exit_code == 0, "2 of 12 are less than a fifth"
    assert lab.asked == 13, "what failed is asked again, what succeeded is not"
    lab.write(qa_jsonl=questions(2, note=" of none").replace("Number", "FAULT=400"))
    nothing = lab.run("--max-error-rate", "1")
    assert nothing.exit_code == 3, "a run in which every row failed is never good"
    assert nothing.last_line.startswith("failed, too many rows failed: run ")
    assert {row["value"] for row in nothing.metrics.values()} == {None}


def test_a_store_that_cannot_be_written_is_said_before_any_call(lab, tmp_path):
    (tmp_path / "file").touch()
    ran = lab.run(store=tmp_path / "file" / "store")
    assert ran.exit_code not in (0, 1)
    assert ran.finished.stdout == ""
    assert str(tmp_path / "file" / "store") in ran.stderr
    assert "--out" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert lab.asked == 0
