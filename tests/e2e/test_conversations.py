"""Conversations over HTTP: what is sent, paid once, planned and shown."""

import json

import pandas

from tests.e2e.lab import Lab, jsonl, model

TASK = """\
key: exam
display_name: Exam
description: A conversation with a simulated user.
definition:
  dataset: {key: qa}
  solver:
    type: multi_turn_solver
    message_builders:
      - {type: chat_message, role: user, content: "{{ sample.question }}"}
      - type: loop
        max_iterations: 3
        on_max_iterations: continue
        message_builders:
          - {type: generate}
          - type: generate_message
            model_key: caller
            output_role: user
            include_conversation: false
            extra_input_messages:
              - type: chat_message
                role: user
                content: "Round {{ loop_index }}. ANSWER={{ sample.follow_ups[loop_index] }}"
            terminate_if: {includes: bye, keep_iteration: true}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
"""

ROWS = [
    {"question": "ANSWER=a", "follow_ups": ["and?", "so?", "bye"], "target": "OK"},
    {"question": "ANSWER=d", "follow_ups": ["good bye"], "target": "d"},
    {"question": "ANSWER=f", "follow_ups": [], "target": "f"},
]


def write(lab: Lab) -> None:
    lab.write(task_yaml=TASK, qa_jsonl=jsonl(ROWS))
    lab.write_files({"caller.yaml": model(lab.server.base_url, key="caller")})
    run = (lab.folder / "run.yaml").read_text()
    (lab.folder / "run.yaml").write_text(
        run.replace("[{$ref: model.yaml}]", "[{$ref: model.yaml}, {$ref: caller.yaml}]")
    )


def test_a_conversation_is_paid_once_and_shown(lab):
    write(lab)
    ran = lab.run("--max-error-rate", "1")
    assert ran.exit_code == 0, ran.stderr
    samples = ran.run.samples().set_index("sample_id")
    assert list(samples["calls"]) == [6, 2, 1]
    assert list(samples["status"]) == ["ok", "ok", "error"]
    assert list(samples["output_text"])[:2] == ["OK", "d"]
    assert ran.value == 1.0
    assert lab.asked == 9
    assert {request["model"] for request in ran.requests()} == {"lab-1", "caller-1"}

    again = lab.run("--max-error-rate", "1")
    assert lab.asked == 9, "everything came from the ledger"
    assert list(again.run.samples()["ledger_hits"]) == [6, 2, 1]
    assert list(again.run.samples()["trace"]) == list(ran.run.samples()["trace"])

    shown = lab.evalmill("show", ran.run_id, "1").stdout
    assert "  user: ANSWER=d\n  assistant: d\n  user: good bye\n" in shown
    broken = lab.evalmill("show", ran.run_id, "2").stdout
    assert "  user: ANSWER=f\n  assistant: f\n  error (template): " in broken


def test_a_plan_tells_calls_from_to_and_the_first_prompts(lab):
    write(lab)
    plan = lab.evalmill("plan", lab.folder / "run.yaml", "--show", "1", "--json").json
    spec = plan["specs"][0]
    assert spec["calls"] == {"lab": {"least": 3, "most": 9}, "caller": {"least": 3, "most": 9}}
    assert spec["estimate_covers"] == "first calls"
    assert spec["prompts"] == [
        {
            "sample_id": "0",
            "input": {"messages": [{"role": "user", "content": "ANSWER=a"}]},
        }
    ]
    assert lab.asked == 0


def test_results_do_not_depend_on_how_samples_are_cut(lab):
    write(lab)
    tables = []
    for cut in (["--batch-size", "1"], ["--batch-size", "3"], ["-j", "1"]):
        ran = lab.run("--max-error-rate", "1", "--cache", "update", *cut)
        tables.append(ran.run.samples()[["sample_id", "trace", "status", "calls"]])
    assert tables[0].equals(tables[1])
    assert tables[0].equals(tables[2])


def test_a_slow_conversation_holds_up_no_other(lab):
    slow = {"sample_id": "0", "reply": "a", "latency_s": 0.7}
    lab.write(
        task_yaml=TASK,
        qa_jsonl=jsonl([{**ROWS[0], "question": f"q{number}"} for number in range(90)]),
    )
    models = [
        {"key": key, "display_name": key, "config": {"connection_type": "mock", "rules": rules}}
        for key, rules in [("lab", [slow, {"reply": "b"}]), ("caller", [{"reply": "next"}])]
    ]
    run = (lab.folder / "run.yaml").read_text()
    run = run.replace("[{$ref: model.yaml}]", json.dumps(models))
    (lab.folder / "run.yaml").write_text(run)
    ran = lab.run("-j", "2", "--batch-size", "30")
    assert ran.exit_code == 0, ran.stderr
    samples = ran.run.samples().set_index("sample_id")
    ends = samples["started_at"] + pandas.to_timedelta(samples["duration_s"], unit="s")
    assert list(samples["calls"]) == [6] * 90
    assert ends.idxmax() == "0"
    assert samples["duration_s"]["0"] >= 2.1
