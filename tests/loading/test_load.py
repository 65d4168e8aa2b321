"""Whole files: what loads, and that no text crashes the loader."""

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import Kind, kind_of, load
from tests.documented import GENERIC_INPUT, HARRY_POTTER, UNIQUENESS, UNIQUENESS_SCORER


def test_a_task_with_literal_keys_loads_unchanged(read):
    document = read(GENERIC_INPUT)
    assert document.kind == "task"
    assert document.tree["definition"]["dataset"] == {"key": "qa-single-answers"}
    assert document.warnings == ()


def test_a_task_of_the_older_generation_loads_with_a_warning(read):
    document = read(UNIQUENESS, {"uniqueness_scorer.py": UNIQUENESS_SCORER})
    assert document.warnings == (
        "task.yaml:12: definition.evaluated_entity_type: 'evaluated_entity_type' is an old key; "
        "it is ignored: a task with a solver evaluates a model, one without a dataset",
    )
    scorer = document.tree["definition"]["scorers"][0]
    assert scorer["compute_scores_snippet"] == UNIQUENESS_SCORER.rstrip("\n")


def test_a_documented_task_with_a_judge_loads(read):
    scorer = read(HARRY_POTTER).tree["definition"]["scorers"][0]
    assert scorer["type"] == "model_as_a_judge_classifier"


def test_placeholders_may_stand_where_their_type_is_not_known(read):
    document = read(
        """
        key: t
        display_name: T
        description: d
        config_spec:
          - {type: string, key: role, display_name: R}
        definition:
          dataset: {key: << config.data >>}
          solver:
            type: << config.solver >>
          scorers:
            - << config.scorer >>
            - type: string_equals
              ground_truth: "{{ sample.<< config.column >> }}"
              metrics: << config.metrics >>
            - type: python
              key: score-<< config.n >>
              compute_scores_snippet: << config.code >>
              metrics: []
        """
    )
    assert document.tree["definition"]["scorers"][0] == "<< config.scorer >>"


@pytest.mark.parametrize(
    ("tree", "kind"),
    [
        ({"definition": {}}, "task"),
        ({"task_specifications": []}, "evaluation"),
        ({"source": {}}, "dataset"),
        ({"key": "m", "config": {}}, "model"),
        ({"process_input": {}}, "model-adapter"),
        ({"evaluation": {}, "config": {}}, "run"),
        ({"models": []}, "run"),
        ("text", "run"),
    ],
)
def test_the_kind_of_a_file_shows_in_its_keys(tree, kind):
    assert kind_of(tree) == kind


PIECES = (
    *("key", ": ", "\n", "  ", "- ", "'", '"', "{", "}", "[", "]", "&a", "*a", "<<", "|", "#", "?"),
    *(
        "!include ",
        "$ref",
        "$A",
        "!x ",
        "task.yaml",
        "definition",
        "type",
        ",",
        "\t",
        "\0",
        "é",
        "1",
    ),
)


def complaint_lengths(file: Path, kind: Kind | None) -> list[int]:
    try:
        load(file, kind)
    except DefinitionErrors as errors:
        return [len(str(problem)) for problem in errors.problems]
    return [0]


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("".join)))
@example("!include task.yaml")
@example("$ref: task.yaml")
@example("&a {<<: *a}")
@example("? [a]\n: b")
@example("%YAML 3.0\n--- a")
def test_no_text_crashes_the_loader(tmp_path_factory, text):
    file = tmp_path_factory.getbasetemp() / "task.yaml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    for kind in ("task", "run", None):
        assert 0 <= max(complaint_lengths(file, kind)) < 1500


@given(st.data())
def test_no_edit_of_a_task_crashes_the_loader(tmp_path_factory, data):
    text = GENERIC_INPUT
    start = data.draw(st.integers(0, len(text)))
    stop = data.draw(st.integers(start, min(start + 20, len(text))))
    file = tmp_path_factory.getbasetemp() / "edited.yaml"
    file.write_text(
        text[:start] + data.draw(st.sampled_from(PIECES)) + text[stop:], encoding="utf-8"
    )
    assert 0 <= max(complaint_lengths(file, None)) < 1500
