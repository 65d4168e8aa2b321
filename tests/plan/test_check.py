import json
from pathlib import Path

import pytest

from tasks_lib.plan.check import Findings, check_file
from tests.engine import ASK, EQUALS, Engine, saying


@pytest.fixture
def file(tmp_path: Path) -> Path:
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    return Engine(tmp_path).write(definition, [{"q": "?", "a": "x"}], models=[saying(default="x")])


def test_a_file_that_can_run_has_no_findings(file: Path):
    assert check_file(file) == Findings()


def test_everything_wrong_with_a_file_is_told_at_once(file: Path):
    document = json.loads(file.read_text())
    document["tasks"][0]["definition"]["scorers"][0]["ground_thruth"] = "x"
    document["run_config"] = {"num_samples": 0}
    file.write_text(json.dumps(document, indent=1))
    problems = check_file(file).problems
    assert len(problems) == 2
    assert all(problem.startswith(f"{file}:") for problem in problems)
    assert any("'ground_thruth'" in problem and "ground_truth" in problem for problem in problems)
    assert any("num_samples" in problem for problem in problems)


def test_the_data_is_read_through(file: Path):
    (file.parent / "qa.jsonl").write_text('{"q": "?", "a": "x"}\n{"q"\n')
    (problem,) = check_file(file).problems
    assert "qa.jsonl:2" in problem


def test_a_task_alone_is_checked_for_names_it_does_not_define(tmp_path: Path):
    task = {
        "key": "exam",
        "display_name": "Exam",
        "description": "Asks.",
        "definition": {
            "dataset": {"key": "qa"},
            "scorers": [{**EQUALS, "ground_truth": "<< config.missing >>", "value": "x"}],
        },
    }
    file = tmp_path / "task.yaml"
    file.write_text(json.dumps(task))
    (problem,) = check_file(file).problems
    assert "config parameter 'missing' is not defined; add" in problem


def test_a_file_that_is_not_there_is_a_finding(tmp_path: Path):
    (problem,) = check_file(tmp_path / "gone.yaml").problems
    assert "gone.yaml" in problem


def test_further_environment_files_are_read_first(file: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CHECKED_URL", "placeholder")
    monkeypatch.delenv("CHECKED_URL")
    document = json.loads(file.read_text())
    document["models"][0]["config"] = {"url": "$CHECKED_URL", "model_key": "m"}
    file.write_text(json.dumps(document))
    (file.parent / "lab.env").write_text("CHECKED_URL=http://127.0.0.1:9/v1\n")
    assert check_file(file, file.parent / "lab.env").problems == ()
