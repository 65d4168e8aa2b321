"""Task result logs through the command line: written from a run, loaded instead of one."""

import json

import pytest

from tests.e2e.lab import same_metrics


@pytest.fixture(autouse=True)
def _one_project(tmp_path):
    """Runs, what is exported of them and their data lie in one project."""
    (tmp_path / "pyproject.toml").touch()


def test_an_exported_run_is_loaded_elsewhere_without_model_key_or_data(lab, tmp_path):
    key = {"LAB_KEY_FOR_EXPORT": "sk-not-to-be-seen-1234567890"}
    lab.write(
        model_yaml=(lab.folder / "model.yaml").read_text() + "  api_key: $LAB_KEY_FOR_EXPORT\n"
    )
    ran = lab.run(env=key)
    assert ran.exit_code == 0, ran.stderr
    written = lab.evalmill(
        "export", "task-result", ran.run_id, tmp_path / "out", "--link-logs", "--json"
    )
    assert written.exit_code == 0, written.stderr
    evaluation, log = written.json
    assert (evaluation, log) == (
        str(tmp_path / "out/nightly.yaml"),
        str(tmp_path / "out/task_results/exam/task_result_log.json"),
    )
    for path in (tmp_path / "out").rglob("*"):
        assert not path.is_file() or "sk-not-to-be-seen" not in path.read_text()
    (lab.folder / "qa.jsonl").unlink()
    moved = (tmp_path / "out").rename(tmp_path / "elsewhere")  # the evaluation says where logs are
    asked = lab.asked

    plan = lab.evalmill("plan", moved / "nightly.yaml", "--json").json
    assert plan["specs"][0]["calls"] == {}
    assert plan["samples"] == 12
    checked = lab.evalmill("check", moved / "nightly.yaml")
    assert checked.exit_code == 0, checked.stderr
    loaded = lab.run(file=moved / "nightly.yaml", store=tmp_path / "store")
    assert loaded.exit_code == 0, loaded.stderr
    assert same_metrics(loaded.run, ran.run)
    assert lab.asked == asked
    assert loaded.run.record["calls"]["total"] == 0
    shown = lab.evalmill("show", loaded.run_id, "11", "-o", tmp_path / "store")
    assert "user: Number 11? ANSWER=a11" in shown.stdout
    assert "string_equals: is_correct = False" in shown.stdout


def test_loaded_results_are_scored_again_like_any_others(lab, tmp_path):
    ran = lab.run()
    lab.evalmill("export", "task-result", "last", tmp_path / "out", "--link-logs")
    loaded = lab.run(file=tmp_path / "out/nightly.yaml")
    assert loaded.exit_code == 0, loaded.stderr
    asked = lab.asked
    rescored = lab.evalmill(
        "rescore", loaded.run_id, tmp_path / "out/nightly.yaml", "--no-prefect", "--json"
    )
    assert rescored.exit_code == 0, rescored.stderr
    assert rescored.json["metrics"] == ran.finished.json["metrics"]
    assert lab.asked == asked


def test_a_log_that_changes_while_its_run_waits_is_not_mixed_in(lab, tmp_path):
    lab.run()
    lab.evalmill("export", "task-result", "last", tmp_path / "out", "--link-logs")
    loaded = lab.run(file=tmp_path / "out/nightly.yaml")
    assert loaded.exit_code == 0, loaded.stderr
    log = tmp_path / "out/task_results/exam/task_result_log.json"
    log.write_text(log.read_text().replace("a11", "a12"))
    resumed = lab.evalmill("run", "--resume", loaded.run_id, "--no-prefect")
    assert resumed.exit_code == 2
    assert "definitions or data of 'exam' have changed" in resumed.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("task-results", "last"), 2, "unknown format 'task-results'; write 'task-result'"),
        (("task-result", "never-was"), 2, "there is no run 'never-was'"),
    ],
)
def test_what_cant_be_exported_is_told(lab, arguments, code, words):
    lab.run("-n", "1")
    refused = lab.evalmill("export", *arguments)
    assert (refused.exit_code, refused.stdout) == (code, "")
    assert words in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_task_judges_what_another_has_answered(lab):
    first = lab.run()
    lab.write(
        reading_yaml="""\
        key: reading
        display_name: Reading
        description: Looks at answers of an earlier run.
        config_spec:
          - {type: task_result, key: earlier, display_name: Earlier result}
        definition:
          dataset: {source: task_result, key: << config.earlier >>}
          scorers:
            - {type: string_equals, value: "{{ sample.output_text }}", ground_truth: "a3"}
        """
    )
    ran = lab.run("--set", f"earlier={first.run_id}/exam", file="reading.yaml")
    assert ran.exit_code == 0, ran.stderr
    assert ran.value == pytest.approx(1 / 12)
    missing = lab.evalmill("run", lab.folder / "reading.yaml", "--set", "earlier=x/exam")
    assert missing.exit_code == 2
    assert "task result 'x/exam': there is no run 'x'" in missing.stderr
    assert json.loads((ran.run.folder.path / "run.json").read_text())["calls"]["total"] == 0
