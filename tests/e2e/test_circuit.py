"""Runs that can't succeed are refused, or stopped after a handful of calls, and say why."""

import json
import shlex

import pytest

from tests.e2e.lab import ALONE, TASK, dataset, jsonl, model, questions

COUNT = 500
PORT_OF_NOBODY = "http://127.0.0.1:9/v1"

JUDGE = """\
    - type: model_as_a_judge_classifier
      key: judge
      model_key: judge
      correct_labels: [correct]
      incorrect_labels: [incorrect]
      user_prompt: "JUDGE {{ sample.question }} {{ trace.get_last_assistant_text() }}"
"""


@pytest.fixture
def large(lab):
    """Five hundred questions."""
    lab.write(qa_jsonl=questions(COUNT))
    return lab


def faulty(lab, kind):
    lab.server.reset(fault_rate=1.0, faults=kind)


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (
            "401",
            "HTTP 401 (invalid_api_key): Incorrect API key provided; check the model's api_key",
        ),
        ("404", "The model does not exist; check the model's url and model_key"),
        ("quota", "You exceeded your current quota; look at the account's credit and limits"),
    ],
)
def test_a_model_that_cannot_be_used_costs_less_than_a_hundredth_of_the_calls(large, kind, words):
    faulty(large, kind)
    ran = large.run("-j", "50")
    assert ran.exit_code == 3
    assert large.asked <= COUNT // 100
    stopped, last = ran.stderr.strip().splitlines()
    assert stopped.startswith("stopped: model 'lab': no usable reply to the first 5 calls: HTTP")
    assert stopped.endswith(words)
    assert last == f"failed: run {ran.run_id}, 0 of {COUNT} samples done"
    record = ran.run.record
    assert (record["status"], record["exit_code"]) == ("failed", 3)
    assert record["warnings"] == [stopped.removeprefix("stopped: ")]
    rows = record["stopped"]["rows"]
    assert len({row["sample_id"] for row in rows}) == 5
    assert {row["error_class"] for row in rows} == {"infra"}
    assert ran.finished.json["resume"] is None, "nothing was paid for"


def test_an_endpoint_that_nobody_serves_shows_within_seconds(large):
    large.write(model_yaml=model(PORT_OF_NOBODY))
    ran = large.run()
    assert ran.exit_code == 3
    assert "connection failed: Cannot connect to host 127.0.0.1:9 [" in ran.stderr
    assert "; check the model's url, and that its server is up" in ran.stderr


@pytest.mark.parametrize("kind", ["500", "429", "html"])
def test_one_that_always_fails_is_given_up_with_the_attempts_of_five_calls(large, kind):
    large.server.reset(fault_rate=1.0, faults=kind, retry_after_s=0.05)
    ran = large.run("-j", "50")
    assert ran.exit_code == 3
    assert large.asked == 25
    assert "no usable reply to the first 5 calls" in ran.stderr


def test_a_token_limit_that_lets_nothing_through_is_said(large):
    large.write(model_yaml=model(large.server.base_url, more="parameters: {max_tokens: 8}\n"))
    faulty(large, "cut")
    ran = large.run("-j", "50")
    assert (ran.exit_code, large.asked) == (3, 5)
    assert "model 'lab': every reply was cut off at max_tokens=8 before an answer" in ran.stderr


def test_a_token_limit_that_lets_something_through_is_a_warning(lab):
    lab.write(model_yaml=model(lab.server.base_url, more="parameters: {max_tokens: 1}\n"))
    faulty(lab, "length")
    ran = lab.run()
    assert lab.asked == 12
    early = "warning: the first 5 replies of model 'lab' were all cut off at max_tokens=1; raise"
    assert ran.stderr.startswith(early)
    assert "12 of 12 replies truncated" in ran.stderr


def test_without_preflight_every_sample_gets_its_row(lab):
    faulty(lab, "401")
    ran = lab.run("--no-preflight")
    assert (ran.exit_code, lab.asked) == (3, 12)
    assert list(ran.run.samples()["status"]) == ["error"] * 12


def test_a_judge_that_cannot_be_used_ends_the_run_and_what_was_paid_is_kept(large):
    large.write(
        task_yaml=TASK + JUDGE,
        judge_yaml=model(PORT_OF_NOBODY, "judge"),
        run_yaml=(large.folder / "run.yaml")
        .read_text()
        .replace("{$ref: model.yaml}", "{$ref: model.yaml}, {$ref: judge.yaml}"),
    )
    ran = large.run("--batch-size", "20")
    assert ran.exit_code == 3
    assert "stopped: model 'judge': no usable reply to the first 5 calls" in ran.stderr
    assert "once that is mended, resume with: evalmill run --resume" in ran.last_line
    assert len(ran.requests()) == large.asked


def test_a_run_whose_model_died_goes_on_where_it_was_once_it_is_back(large):
    large.server.reset(latency_ms=20)
    large.write(qa_jsonl=questions(200) + questions(40, note=" FAULT=401"))
    ran = large.run("-j", "10", "--batch-size", "10")
    assert ran.exit_code == 3
    assert "stopped: model 'lab': no usable reply to the last 20 calls: HTTP 401" in ran.stderr
    assert large.asked < 200 + 40
    assert len(ran.run.samples().query("status == 'error'")) == 0


def test_it_is_resumed_by_the_printed_command(large):
    """A rate of faults that is turned on and off again, as an endpoint that dies and is mended."""
    large.write(qa_jsonl=questions(COUNT, wrong=100))
    whole = large.run("-j", "10", store=large.folder / "whole")
    paid = 0

    def die():
        large.server.reset(fault_rate=1.0, faults="401", latency_ms=20)

    large.server.reset(latency_ms=20)
    process = large.evalmill.start(
        "run", large.folder / "run.yaml", "--json", "-j", "10", "--batch-size", "10", *ALONE,
        cwd=large.folder,
    )  # fmt: skip
    with process:
        while large.asked < 100:
            pass
        paid = large.server.stats()["statuses"]["200"]
        die()
        stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 3, stderr
    command = json.loads(stdout)["resume"]
    assert stderr.strip().endswith(f"resume with: {command}")
    large.server.renew()
    resumed = large.evalmill(*shlex.split(command)[1:], "--json", *ALONE[1:], cwd=large.folder)
    assert resumed.exit_code == 0, resumed.stderr
    assert large.asked <= COUNT - paid
    assert {row["value"] for row in resumed.json["metrics"]} == {whole.value}
    assert resumed.json["warnings"] == []


# prompts


@pytest.mark.parametrize(
    ("task", "words"),
    [
        pytest.param(
            TASK.replace("sample.question", "sample.quesion"),
            "task 'exam': template 'input_messages.0.content' line 1: 'sample.quesion' is "
            "undefined: no 'quesion' here; did you mean 'question'? (in each of the first 5 "
            "samples)",
            id="a column that is not there",
        ),
        pytest.param(
            TASK.replace("sample.target", "sample.taget"),
            "task 'exam', scorer 'string_equals': template 'ground_truth' line 1: 'sample.taget' "
            "is undefined: no 'taget' here; did you mean 'target'?",
            id="a column that a scorer compares with",
        ),
        pytest.param(
            TASK + JUDGE.replace("sample.question", "sample.quesion").replace(": judge", ": lab"),
            "scorer 'lab': template 'user_prompt' line 1: 'sample.quesion' is undefined",
            id="a column that a judge is shown",
        ),
        pytest.param(
            TASK.replace("type: chat_completion", "type: generic")
            .replace("input_messages:", "template: '{\"messages\": [{{ sample.question }}]}'")
            .replace('        - {role: user, content: "{{ sample.question }}"}\n', ""),
            "task 'exam': input_builder.template: the rendered model input is no JSON",
            id="JSON that is none",
        ),
    ],
)
def test_prompts_that_cannot_be_made_are_refused_before_any_call(lab, task, words):
    lab.write(task_yaml=task)
    ran = lab.evalmill("run", lab.folder / "run.yaml", *ALONE, cwd=lab.folder)
    assert (ran.exit_code, lab.asked) == (2, 0), ran.stderr
    assert words in ran.stderr
    assert len(ran.stderr.strip().splitlines()) == 1
    assert not lab.evalmill.store.exists() or not list(lab.evalmill.store.glob("runs/*"))


def test_a_column_that_only_some_samples_lack_is_their_own_trouble(lab):
    rows = [{"question": f"{n}? ANSWER=x", "target": "x"} for n in range(6)]
    rows[1] = {"target": "x"}
    lab.write(qa_jsonl=jsonl(rows), qa_yaml=dataset())
    ran = lab.run()
    assert (ran.exit_code, lab.asked) == (3, 5)


def test_without_preflight_prompts_are_tried_one_by_one(lab):
    lab.write(task_yaml=TASK.replace("sample.question", "sample.quesion"))
    ran = lab.run("--no-preflight")
    assert (ran.exit_code, lab.asked) == (3, 0)
    assert list(ran.run.samples()["error_class"]) == ["template"] * 12
