"""The verbs beside `run`: what they print, where, and their exit codes."""

import json
import shlex
from importlib.metadata import version
from pathlib import Path

import pytest

from tasks_lib.results.load import load_run
from tests.e2e.lab import ALONE, TASK, dataset, mock, questions


def test_a_run_is_listed_shown_and_its_samples_read(lab):
    lab.write(qa_jsonl=questions(12, wrong=3).replace("Number 1?", "FAULT=400 1?"))
    empty = lab.evalmill("ls")
    assert (empty.exit_code, empty.stderr) == (0, "")
    assert f"no runs in {lab.evalmill.store}" in empty.stdout
    assert lab.evalmill("ls", "--json").json == []
    assert lab.evalmill("show", "last").exit_code != 0

    ran = lab.run()
    (listed,) = lab.evalmill("ls", "--json").json
    assert listed == json.loads((ran.run.folder.path / "run.json").read_text())
    assert (listed["status"], listed["exit_code"]) == ("complete", 3)
    assert ran.run_id in lab.evalmill("ls", "-n", "1").stdout

    shown = lab.evalmill("show", "last")
    assert shown.exit_code == 0
    assert "0.7273" in shown.stdout
    assert "0.6667 … 0.75" in shown.stdout, "what it would be with the failed row wrong or right"
    assert "1 row failed in the solver (model error), first sample '1': " in shown.stderr
    last = shown.stderr.splitlines()[-1]
    assert last == f"complete, too many rows failed: run {ran.run_id}"
    document = lab.evalmill("show", ran.run.folder.path, "--json").json
    assert document["metrics"] == ran.finished.json["metrics"]

    sample = lab.evalmill("show", ran.run_id, "11")
    assert "user: Number 11? ANSWER=a11" in sample.stdout
    assert "assistant: a11" in sample.stdout
    assert "string_equals: is_correct = False" in sample.stdout
    (row,) = lab.evalmill("show", ran.run_id, "1", "--json").json["rows"]
    assert row["error_class"] == "model"
    assert row["scores"]["string_equals"]["status"] == "error"
    for arguments in (("show", ran.run_id, "99"), ("show", "never-was")):
        missing = lab.evalmill(*arguments)
        assert missing.exit_code not in (0, 1)
        assert missing.stdout == ""
        assert "Traceback" not in missing.stderr


def test_failed_and_wrong_samples_are_found_by_the_command_that_a_run_names(lab):
    lab.write(qa_jsonl=questions(12, wrong=3).replace("Number 1?", "FAULT=400 1?"))
    ran = lab.run()
    (hint,) = [line for line in ran.stderr.splitlines() if line.startswith("list them with: ")]
    command = shlex.split(hint.removeprefix("list them with: "))
    assert command == ["evalmill", "show", ran.run_id, "--errors"]
    listed = lab.evalmill(*command[1:])
    assert listed.exit_code == 0
    assert all(word in listed.stdout for word in ("solver", "model", "HTTP 400"))
    assert listed.stderr.startswith("1 row failed; look at one with: evalmill show ")
    (row,) = lab.evalmill(*command[1:], "--json").json["rows"]
    assert (row["sample_id"], row["error_class"]) == ("1", "model")

    wrong = lab.evalmill("show", "last", "--where", "is_correct=false", "-n", "2", "--json").json
    assert (wrong["total"], [row["sample_id"] for row in wrong["rows"]]) == (3, ["9", "10"])
    table = lab.evalmill("show", "last", "--where", "is_correct=false")
    assert "is_correct = False" in table.stdout
    for asked in (("--where", "zzz=1"), ("--where", "zzz"), ("--errors", "--where", "a=1")):
        refused = lab.evalmill("show", "last", *asked)
        assert (refused.exit_code, refused.stdout) == (2, "")


def test_last_names_the_newest_run_wherever_a_run_is_named(lab):
    nothing = lab.evalmill("run", "--resume", "last", *ALONE)
    assert nothing.exit_code == 2
    assert f"there is no run in '{lab.evalmill.store}'" in nothing.stderr
    lab.run("--run-id", "older")
    lab.run("--run-id", "newer", "--cache", "no-cache", "-n", "4")
    for flag in ("--resume", "--retry-errors"):
        assert lab.run(flag, "last", file=None).run_id == "newer"
    exported = lab.evalmill("ledger", "export", "last", "replies.jsonl", "--json")
    assert exported.json == {"run_id": "newer", "replies": 4, "file": "replies.jsonl"}
    assert lab.evalmill("export", "task-result", "last").exit_code == 0
    assert (lab.evalmill.folder / "newer" / "nightly.yaml").exists()
    file = lab.folder / "run.yaml"
    scored = lab.evalmill("rescore", "last", file, "--run-id", "again", "--json", *ALONE).json
    assert scored["metrics"][0]["n"] == 4
    assert lab.evalmill("show", "last", "--json").json["run_id"] == "again"
    assert lab.run("--resume", "last", file=None).run_id == "again"

    for arguments in (("run", file, "--run-id", "last"), ("rescore", "never-was", file)):
        refused = lab.evalmill(*arguments, *ALONE)
        assert (refused.exit_code, refused.stdout) == (2, "")


def test_the_document_of_a_run_says_how_it_ended_and_where_everything_is(lab):
    lab.write(qa_jsonl=questions(12, wrong=3).replace("Number 1?", "FAULT=400 1?"))
    document = lab.run().finished.json
    assert (document["status"], document["exit_code"]) == ("complete", 3)
    assert document["warnings"] == ["1 of 12 rows failed, more than the 0.0% allowed"]
    assert [row["n"] for row in document["metrics"]] == [11]
    run = lab.evalmill.store / "runs" / document["run_id"]
    assert document["run_dir"] == str(run)
    assert document["paths"] == {
        "run": str(run / "run.json"),
        "resolved": str(run / "resolved.yaml"),
        "samples": str(run / "samples"),
        "scores": str(run / "scores"),
        "metrics": str(run / "metrics.parquet"),
    }
    assert all(Path(path).exists() for path in document["paths"].values())


def test_a_plan_calls_nothing_and_needs_no_key(lab):
    keyed = "http://127.0.0.1:9/v1\n  api_key: $LAB_KEY_THAT_IS_NOT_SET"
    lab.write_files(
        {"model.yaml": (lab.folder / "model.yaml").read_text().replace(lab.server.base_url, keyed)}
    )
    planned = lab.evalmill("plan", lab.folder / "run.yaml", "--json", "--show", "2", "-n", "5")
    assert planned.exit_code == 0, planned.stderr
    plan = planned.json
    assert plan["samples"] == 5
    assert plan["specs"][0]["calls"] == {"lab": {"least": 5, "most": 5}}
    prompts = [prompt["input"]["messages"][0]["content"] for prompt in plan["specs"][0]["prompts"]]
    assert prompts == ["Number 0? ANSWER=a0", "Number 1? ANSWER=a1"]
    text = lab.evalmill("plan", lab.folder / "run.yaml", "--show", "1", "--batch-size", "5")
    assert "user: Number 0? ANSWER=a0" in text.stdout
    assert "3 batches of 5 samples" in text.stdout
    assert lab.evalmill("plan", lab.folder / "model.yaml").exit_code == 2
    assert not lab.evalmill.store.exists(), "nothing is written"
    assert lab.asked == 0


def test_check_names_every_problem_of_every_file_with_its_line(lab):
    fine = lab.evalmill("check", *sorted(lab.folder.glob("*.yaml")), "--json")
    assert fine.exit_code == 0, fine.stderr
    assert fine.json == {"problems": [], "warnings": []}
    lab.write(
        task_yaml=TASK.replace("scorers", "scorrers").replace("single_turn", "single_trun"),
        model_yaml="key: lab\ndisplay_name: Lab\nconfig: {connection_type: telepathy}\n",
    )
    wrong = lab.evalmill("check", "task.yaml", "model.yaml", "--json", cwd=lab.folder)
    assert wrong.exit_code == 2
    problems = wrong.json["problems"]
    assert any(problem.startswith("task.yaml:12: definition.scorrers: ") for problem in problems)
    assert any("did you mean 'single_turn_solver'" in problem for problem in problems)
    assert any(problem.startswith("model.yaml:3: config.connection_type: ") for problem in problems)
    assert set(problems) <= set(wrong.stderr.splitlines())


def test_a_prompt_that_cant_be_made_is_told_alike_by_check_plan_and_run(lab):
    lab.write(task_yaml=TASK.replace("sample.question", "sample.qestion"))
    file = lab.folder / "run.yaml"
    told = [lab.evalmill(*verb, file) for verb in (("check",), ("plan",), ("run", *ALONE))]
    assert [(one.exit_code, one.stdout) for one in told] == [(2, "")] * 3
    problems = [one.stderr.splitlines()[0] for one in told]
    assert len(set(problems)) == 1
    assert "no 'qestion' here; did you mean 'question'? (in each of the first 5" in problems[0]
    assert lab.evalmill("plan", file, "--no-preflight").exit_code == 0
    assert lab.asked == 0


def test_empty_cells_that_prompts_show_are_warned_of_before_anything_is_paid(lab):
    lab.write(
        qa_yaml=dataset("qa.csv"),
        qa_csv="question,hint,target\n1? ANSWER=a,,a\n2? ANSWER=b,easy,b\n",
        task_yaml=TASK.replace("sample.question }}", "sample.question }} {{ sample.hint }}"),
    )
    file = lab.folder / "run.yaml"
    warning = "exam: column 'hint' is empty in 1 of the first 2 samples and written as 'None'"
    checked, planned = lab.evalmill("check", file, "--json"), lab.evalmill("plan", file, "--json")
    assert (checked.exit_code, planned.exit_code) == (0, 0)
    ran = lab.run()
    for document in (checked.json, planned.json, ran.finished.json):
        (told,) = document["warnings"]
        assert told.startswith(warning)
    lab.write(task_yaml=TASK)
    assert lab.run().finished.json["warnings"] == []


def test_a_gate_on_a_metric_that_no_task_has_is_refused_before_any_call(lab):
    refused = lab.run("--fail-under", "is_corect_mean=0.5")
    assert (refused.exit_code, refused.finished.stdout) == (2, "")
    assert refused.last_line == (
        "--fail-under: no metric is named 'is_corect_mean'; did you mean 'is_correct_mean'?"
    )
    assert lab.asked == 0
    assert lab.run("--fail-under", "is_correct_mean=0.9").exit_code == 1


def test_schemas_are_json_and_unknown_kinds_are_refused(lab):
    kinds = lab.evalmill("schema").stdout.split()
    assert {"task", "dataset", "model", "evaluation", "run"} <= set(kinds)
    schema = lab.evalmill("schema", "task").json
    assert "definition" in schema["properties"]
    assert lab.evalmill("schema", "tusk").exit_code == 2
    assert lab.evalmill("schema", "--json").json == kinds
    assert lab.evalmill("schema", "task", "--json").json == schema


def test_an_exported_ledger_replays_the_run_without_a_server(lab):
    asked = lab.run()
    exported = lab.evalmill("ledger", "export", asked.run_id, "recorded.jsonl")
    assert exported.exit_code == 0
    assert "12 replies written to recorded.jsonl" in exported.stderr
    recording = lab.evalmill.folder / "recorded.jsonl"
    lab.write(
        model_yaml="key: lab\ndisplay_name: Recorded\n"
        f"config: {{connection_type: replay, file_path: {recording}}}\n"
    )
    replayed = lab.run("--cache", "no-cache", "--allow-outside")
    assert replayed.exit_code == 0, replayed.stderr
    assert replayed.finished.json["metrics"] == asked.finished.json["metrics"]
    assert lab.asked == 12
    assert lab.evalmill("ledger", "export", "never-was", "x.jsonl").exit_code != 0


def test_help_names_every_verb_with_an_example(lab):
    listed = lab.evalmill("--help")
    assert listed.exit_code == 0
    assert lab.evalmill() == listed
    for verb in ("run", "check", "plan", "show", "ls", "server", "schema"):
        assert f"  {verb} " in listed.stdout
        helped = lab.evalmill(verb, "--help")
        assert helped.exit_code == 0
        assert f"Example: evalmill {verb}" in helped.stdout


def test_it_tells_its_version(lab):
    told = lab.evalmill("--version")
    assert (told.exit_code, told.stdout) == (0, f"evalmill {version('evalmill')}\n")


@pytest.mark.prefect
def test_the_local_server_says_where_it_is(lab, prefect_server):
    status = lab.evalmill("server", "status")
    assert status.exit_code == 0
    assert status.stdout.strip() == prefect_server.ui_url
    started = lab.evalmill("server", "start")
    assert (started.exit_code, started.stdout.strip()) == (0, prefect_server.ui_url)
    elsewhere = {"EVALMILL_HOME": str(lab.folder / "no-server-here")}
    assert lab.evalmill("server", "status", env=elsewhere).exit_code == 1
    assert lab.evalmill("server", "stop", env=elsewhere).exit_code == 0

    for verb in ("status", "start"):
        told = lab.evalmill("server", verb, "--json").json
        assert told["running"]
        assert (told["ui_url"], told["api_url"]) == (prefect_server.ui_url, prefect_server.url)
        assert told["pid"] == prefect_server.pid
    nowhere = lab.evalmill("server", "status", "--json", env=elsewhere)
    assert (nowhere.exit_code, nowhere.json) == (1, {"running": False})
    assert lab.evalmill("server", "stop", "--json", env=elsewhere).json == {"stopped": False}


NASTY = ["yes\x00no", "\x1b[2J\x1b[31mred", "line\r\nline", "‮pu\x9b31m"]


def test_br_030_control_characters_survive_and_never_reach_the_terminal(lab):
    """NUL and ESC are kept exactly in the results, and written out on the terminal."""
    targets = ["yesno", "red", "line\nline", "up"]
    rows = "".join(
        json.dumps({"question": reply, "target": target}) + "\n"
        for reply, target in zip(NASTY, targets, strict=True)
    )
    by_reply = "  - {type: frequency, field: said}\n  - {type: mean, field: said}\n"
    scorer = (
        "    - type: python\n      key: said\n      compute_scores_snippet: |\n"
        "        def compute_scores(sample, solver_output):\n"
        "            text = solver_output.trace.get_last_assistant_text()\n"
        "            if 'red' in text: raise ValueError(text)\n"
        "            return {'said': text}\n"
        "      metrics:\n" + by_reply.replace("  -", "        -")
    )
    lab.write(qa_jsonl=rows, model_yaml=mock(NASTY), task_yaml=TASK + scorer)
    ran = lab.evalmill("run", lab.folder / "run.yaml", "--run-id", "nasty", *ALONE, "-v")
    assert ran.exit_code == 3
    stored = load_run("nasty", lab.evalmill.store)
    assert list(stored.samples()["output_text"]) == NASTY
    assert list(stored.scores("string_equals")["is_correct"]) == [False] * 4
    shown = [lab.evalmill("show", "nasty", *more) for more in ((), ("0",), ("1",))]
    for told in (ran, *shown):
        for raw in ("\x00", "\x1b", "\r", "\x9b", "‮"):
            assert raw not in told.stdout + told.stderr
    assert "yes\\x00no" in shown[1].stdout
    assert "\\x1b[2J\\x1b[31mred" in shown[2].stdout
    assert "said_yes\\x00no" in ran.stdout
