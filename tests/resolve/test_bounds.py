"""Files that definitions name stay inside of the project, unless the user says otherwise."""

import json

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import Overrides, resolve

ANYWHERE = Overrides(allow_outside=True)
SCORER = {
    "type": "python",
    "metrics": [],
    "compute_scores_snippet": "def compute_scores(sample): return {'a': 1}",
}


def run_file(**changes) -> str:
    """A run file of one task without a solver."""
    run = {
        "datasets": [
            {
                "key": "qa",
                "display_name": "QA",
                "source": {"type": "local", "file_path": "qa.jsonl"},
            }
        ],
        "tasks": [
            {
                "key": "t",
                "display_name": "T",
                "description": "D",
                "definition": {"dataset": {"key": "qa"}, "scorers": [SCORER]},
            }
        ],
        "evaluation": {
            "key": "e",
            "display_name": "E",
            "task_specifications": [{"task_key": "t"}],
        },
    }
    return json.dumps(run | changes)


def dataset(path: str) -> list[dict]:
    return [{"key": "qa", "display_name": "QA", "source": {"type": "local", "file_path": path}}]


def replayed(path: str) -> dict:
    config = {"connection_type": "replay", "file_path": path}
    task = json.loads(run_file())["tasks"][0]
    solver = {
        "type": "single_turn_solver",
        "input_builder": {
            "type": "chat_completion",
            "input_messages": [{"role": "user", "content": "x"}],
        },
    }
    evaluation = {"task_key": "t", "model_key": "m"}
    return {
        "models": [{"key": "m", "display_name": "M", "config": config}],
        "tasks": [{**task, "definition": {**task["definition"], "solver": solver}}],
        "evaluation": {"key": "e", "display_name": "E", "task_specifications": [evaluation]},
    }


def logged(path: str) -> dict:
    specification = {"task_key": "t", "task_result_log_path": path}
    return {"evaluation": {"key": "e", "display_name": "E", "task_specifications": [specification]}}


NAMED = [
    pytest.param(lambda path: {"datasets": dataset(path)}, "qa.jsonl", id="a dataset"),
    pytest.param(replayed, "replies.jsonl", id="a recording"),
    pytest.param(logged, "log.json", id="a log of results"),
]


@pytest.fixture
def project(write_files, monkeypatch):
    """A project in a folder, and files beside it; the working directory is elsewhere."""
    folder = write_files(
        {
            "project/pyproject.toml": "",
            "project/sub/qa.jsonl": '{"q": "a"}\n',
            "project/sub/replies.jsonl": "",
            "project/sub/log.json": "{}",
            "qa.jsonl": '{"q": "a"}\n',
            "replies.jsonl": "",
            "log.json": "{}",
        }
    )
    monkeypatch.chdir("/")
    return folder / "project"


@pytest.mark.parametrize(("naming", "name"), NAMED)
def test_what_is_outside_is_refused_and_may_be_allowed(project, naming, name):
    file = project / "run.yaml"
    for path in (f"../{name}", str(project.parent / name), f"sub/../../{name}"):
        file.write_text(run_file(**naming(path)))
        with pytest.raises(DefinitionErrors) as caught:
            resolve(file)
        (problem,) = caught.value.problems
        assert f"'{path}' leaves the project" in str(problem)
        assert f"keep the file below '{project}', or allow it with --allow-outside" in str(problem)
        resolve(file, ANYWHERE)


@pytest.mark.parametrize(("naming", "name"), NAMED)
def test_what_is_inside_is_found_however_it_is_written(project, naming, name):
    file = project / "run.yaml"
    for path in (f"sub/{name}", str(project / "sub" / name), f"sub/../sub/{name}"):
        file.write_text(run_file(**naming(path)))
        assert len(resolve(file).specs) == 1


@pytest.mark.parametrize(("naming", "name"), NAMED)
def test_links_are_followed(project, naming, name):
    (project / "link").symlink_to(project.parent)
    (project / "run.yaml").write_text(run_file(**naming(f"link/{name}")))
    with pytest.raises(DefinitionErrors, match="leaves the project"):
        resolve(project / "run.yaml")


def test_the_working_directory_counts_when_the_file_is_below_it(project, monkeypatch):
    file = project / "run.yaml"
    file.write_text(run_file(datasets=dataset("../qa.jsonl")))
    monkeypatch.chdir(project.parent)
    assert len(resolve(file).specs) == 1


def test_a_home_is_no_project(project, monkeypatch):
    file = project / "run.yaml"
    file.write_text(run_file(datasets=dataset("../qa.jsonl")))
    monkeypatch.setenv("HOME", str(project.parent))
    monkeypatch.chdir(project.parent)
    with pytest.raises(DefinitionErrors, match="leaves the project"):
        resolve(file)


def test_what_the_user_names_himself_may_be_anywhere(project, write_files):
    task = json.loads(run_file())["tasks"][0]
    file = project / "task.json"
    file.write_text(json.dumps(task))
    (spec,) = resolve(file, Overrides(dataset=str(project.parent / "qa.jsonl"))).specs
    assert spec.datasets["dataset"].source.file_path == str(project.parent / "qa.jsonl")


def test_weights_of_a_model_may_be_anywhere(project):
    changes = replayed("sub/replies.jsonl")
    changes["models"][0]["config"] = {"connection_type": "local", "model_path": "/models/m.gguf"}
    (project / "run.yaml").write_text(run_file(**changes))
    assert resolve(project / "run.yaml").models["m"].config.model_path == "/models/m.gguf"


def test_a_definition_behind_a_link_is_not_found_by_its_key(project):
    outside = {"key": "far", "display_name": "F", "source": {"type": "local", "file_path": "q.csv"}}
    (project.parent / "far.yaml").write_text(json.dumps(outside))
    (project / "datasets").mkdir()
    (project / "datasets/far.yaml").symlink_to(project.parent / "far.yaml")
    task = json.loads(run_file())["tasks"][0]
    task["definition"]["dataset"]["key"] = "far"
    (project / "run.yaml").write_text(run_file(tasks=[task]))
    with pytest.raises(DefinitionErrors, match="there is no dataset 'far'"):
        resolve(project / "run.yaml")
