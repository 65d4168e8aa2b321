"""Earlier results in definitions: whose paths start where, and what is called for them."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.plan import RunSettings, models_to_call
from tasks_lib.resolve import Overrides, resolve

RUN = """\
models:
  - {key: tested, display_name: T, config: {connection_type: mock}}
  - {key: judge, display_name: J, config: {connection_type: mock}}
tasks: [{$ref: tasks/reading.yaml}, {$ref: tasks/asking.yaml}]
datasets: [{key: qa, display_name: Q, source: {type: local, file_path: qa.csv}}]
evaluation:
  key: e
  display_name: E
  config_spec:
    - {type: task_result, key: outer, display_name: O, default_value: run-1/exam}
  task_specifications:
    - {key: here, task_key: reading, task_config: {earlier: logs/one.json}}
    - {key: default, task_key: reading}
    - {key: passed, task_key: reading, task_config: {earlier: << config.outer >>}}
    - $ref: specs/logged.yaml
"""
READING = """\
key: reading
display_name: Reading
description: Reads.
config_spec:
  - {type: task_result, key: earlier, display_name: Earlier, default_value: own/two.json}
definition:
  dataset: {source: task_result, key: << config.earlier >>}
"""
ASKING = """\
key: asking
display_name: Asking
description: Asks.
definition:
  dataset: {key: qa}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "?"}]
"""
LOGGED = """\
key: logged
task_key: asking
model_key: tested
task_result_log_path: ../logs/task_result_log.json
"""


@pytest.fixture
def project(write_files):
    return write_files(
        {
            "pyproject.toml": "",
            "run.yaml": RUN,
            "tasks/reading.yaml": READING,
            "tasks/asking.yaml": ASKING,
            "specs/logged.yaml": LOGGED,
        }
    )


def specs(project, **overrides):
    return {spec.key: spec for spec in resolve(project / "run.yaml", Overrides(**overrides)).specs}


def test_paths_start_from_the_file_they_stand_in(project):
    found = specs(project)
    assert found["here"].result_key == str(project / "logs/one.json")
    assert found["default"].result_key == str(project / "tasks/own/two.json")
    assert found["passed"].result_key == "run-1/exam"
    assert found["logged"].log == project / "logs/task_result_log.json"
    assert found["here"].datasets == {}
    assert (found["here"].log, found["logged"].result_key) == (None, None)


def test_paths_given_for_the_evaluation_start_from_its_file_or_the_working_folder(
    project, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert specs(project, settings={"outer": "x.json"})["passed"].result_key == str(
        tmp_path / "x.json"
    )
    run = project / "run.yaml"
    run.write_text(run.read_text() + "config: {outer: logs/three.json}\n")
    assert specs(project)["passed"].result_key == str(project / "logs/three.json")


def test_a_path_that_a_task_names_starts_from_its_file(project):
    task = project / "tasks/reading.yaml"
    task.write_text(READING.replace("<< config.earlier >>", "own/two.json"))
    assert specs(project)["here"].result_key == str(project / "tasks/own/two.json")


def test_a_stored_evaluation_means_the_same_elsewhere(project, tmp_path):
    before = resolve(project / "run.yaml")
    stored = tmp_path / "stored" / "resolved.yaml"
    stored.parent.mkdir()
    stored.write_text(before.to_yaml())
    after = resolve(stored, Overrides(allow_outside=True))
    assert [spec.result_key for spec in after.specs] == [spec.result_key for spec in before.specs]
    assert [spec.log for spec in after.specs] == [spec.log for spec in before.specs]
    assert after.to_document() == before.to_document()


def test_a_model_that_only_loaded_results_are_of_is_not_called(project):
    assert models_to_call(resolve(project / "run.yaml"), RunSettings(project)) == []
    run = project / "run.yaml"
    run.write_text(
        RUN.replace(
            "    - $ref",
            "    - {key: asked, task_key: asking, model_key: judge}\n    - $ref",
        )
    )
    assert models_to_call(resolve(run), RunSettings(project)) == ["judge"]
    assert sorted(resolve(run).models) == ["judge", "tested"]


@pytest.mark.parametrize(
    ("dataset", "problem"),
    [
        ("{source: task_result}", "definition.dataset.key: .*is missing|key 'key' is missing"),
        ("{source: task_result, keys: [a, b]}", "unknown key 'keys'"),
        ("{source: results, key: a}", "unknown source 'results'"),
        ("{source: task_result, key: ''}", "the text is empty"),
        ("{key: a/b}", "may only hold letters"),
    ],
)
def test_what_is_wrong_with_a_dataset_is_told(project, dataset, problem):
    task = project / "tasks/reading.yaml"
    task.write_text(READING.replace("{source: task_result, key: << config.earlier >>}", dataset))
    with pytest.raises(DefinitionErrors, match=problem):
        resolve(project / "run.yaml")


def test_a_log_path_is_text(project):
    (project / "specs/logged.yaml").write_text(LOGGED.replace("../logs/task_result_log.json", "5"))
    with pytest.raises(DefinitionErrors, match="task_result_log_path: 5 is not text"):
        resolve(project / "run.yaml")
