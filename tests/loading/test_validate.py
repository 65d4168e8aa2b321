"""Typed objects made of parts of a document, before and after substitution."""

import time

import pytest

from tasks_lib.definitions.evaluation import Evaluation
from tasks_lib.definitions.task import Task, TaskHeader
from tasks_lib.errors import DefinitionErrors, SampleError
from tasks_lib.loading import load, validate
from tasks_lib.snippets import load_snippet

TASK = """
    key: t
    display_name: T
    description: d
    config_spec:
      - {type: string, key: role, display_name: R}
    definition:
      dataset: {key: << config.data >>}
      scorers:
        - type: string_equals
          ground_truth: "{{ sample.x }}"
          purpose: << config.purpose >>
        - type: python
          metrics: []
          compute_scores_snippet: |
            def compute_scores(sample):
                return sample["<< config.column >>"]
    """


@pytest.fixture
def document(write_files, monkeypatch):
    folder = write_files(
        {"pyproject.toml": "", "run.yaml": "tasks:\n  - $ref: t.yaml\n", "t.yaml": TASK}
    )
    monkeypatch.chdir(folder)
    return load(folder / "run.yaml")


def test_a_header_is_typed_before_its_definition_can_be(document):
    tree = document.at(("tasks", 0))
    header = {key: value for key, value in tree.items() if key != "definition"}
    typed = validate(document, TaskHeader, ("tasks", 0), header)
    assert typed.config_spec[0].key == "role"


def test_after_substitution_complaints_point_at_what_was_written(document):
    tree = document.at(("tasks", 0))
    tree["definition"]["dataset"]["key"] = "data"
    tree["definition"]["scorers"][0]["purpose"] = "qqa"
    with pytest.raises(DefinitionErrors) as caught:
        validate(document, Task, ("tasks", 0), tree)
    assert str(caught.value) == (
        "t.yaml:11: definition.scorers.0.purpose: 'qqa' is not one of 'score', 'qa'; "
        "did you mean 'qa'?"
    )


def test_a_placeholder_that_is_left_is_no_excuse_after_substitution(document):
    with pytest.raises(DefinitionErrors) as caught:
        validate(document, Task, ("tasks", 0))
    assert [line.split(": ")[1] for line in str(caught.value).splitlines()] == [
        "definition.dataset.key",
        "definition.scorers.0.purpose",
    ]


def test_a_snippet_that_fails_names_its_line_in_the_yaml_file(document):
    definition = document.at(("tasks", 0, "definition"))
    definition["dataset"]["key"] = "data"
    scorer = definition["scorers"][1]
    scorer["compute_scores_snippet"] = scorer["compute_scores_snippet"].replace(
        "<< config.column >>", "answer"
    )
    definition["scorers"].pop(0)
    moved = {"definition": {"scorers": [None, scorer]}}
    path = ("tasks", 0)
    with pytest.raises(DefinitionErrors):
        validate(document, Task, path, moved)
    with pytest.raises(SampleError) as caught:
        load_snippet(scorer["compute_scores_snippet"], "compute_scores")({})
    assert caught.value.where.endswith("t.yaml:16")


def test_any_error_can_be_put_at_a_path(document):
    error = document.error(("tasks", 0, "config_spec", 0, "key"), "it is odd", "make it even")
    assert str(error) == "t.yaml:5: config_spec.0.key: it is odd; make it even"
    assert str(document.error(("nowhere",), "gone")) == "run.yaml:1: nowhere: gone"


def test_the_older_evaluation_keys_are_read_and_warned_of(write_files, monkeypatch):
    folder = write_files(
        {
            "e.yaml": """
                key: e
                display_name: E
                mode: debug
                num_samples: 5
                subsampling: head
                cache_policy: update
                task_specifications:
                  - {task_key: t, model_key: openai$gpt-4-1-nano, dataset_key: d}
                """
        }
    )
    monkeypatch.chdir(folder)
    document = load(folder / "e.yaml")
    evaluation = validate(document, Evaluation)
    assert (evaluation.mode, evaluation.num_samples) == ("debug", 5)
    assert evaluation.task_specifications[0].dataset_key == "d"
    assert [warning.split(": ")[1] for warning in document.warnings] == [
        "mode",
        "num_samples",
        "subsampling",
        "cache_policy",
        "task_specifications.0.dataset_key",
    ]


def test_a_task_file_of_sixty_lines_loads_in_a_moment(write_files):
    scorers = "\n".join(
        f"    - type: string_equals\n      key: s{i}\n      ground_truth: '{{{{ sample.x{i} }}}}'"
        for i in range(16)
    )
    text = f"key: t\ndisplay_name: T\ndescription: d\ndefinition:\n  scorers:\n{scorers}\n"
    folder = write_files({"t.yaml": text})
    load(folder / "t.yaml")
    start = time.process_time()
    load(folder / "t.yaml")
    assert time.process_time() - start < 0.06
