"""JSON Schemas: editors must accept what loads, and mark what does not."""

from textwrap import dedent
from typing import get_args

import jsonschema
import pytest
import yaml

from tasks_lib.loading import Kind
from tasks_lib.loading.schema import json_schema

KINDS = get_args(Kind)


class EditorLoader(yaml.SafeLoader):
    """Reads YAML as an editor does: an included file is some text."""


EditorLoader.add_constructor("!include", lambda loader, node: loader.construct_scalar(node))


def marks(kind: Kind, text: str) -> list[str]:
    validator = jsonschema.Draft7Validator(json_schema(kind))
    tree = yaml.load(dedent(text), Loader=EditorLoader)
    return [".".join(map(str, error.absolute_path)) for error in validator.iter_errors(tree)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind):
    schema = json_schema(kind)
    jsonschema.Draft7Validator.check_schema(schema)
    assert schema["$id"].endswith(kind)
    assert schema["title"]
    assert schema["description"]


@pytest.mark.parametrize("kind", KINDS)
def test_the_keys_of_a_file_are_described(kind):
    properties = json_schema(kind)["properties"]
    assert [name for name, part in properties.items() if not part.get("description")] == []


TASK = """
    # yaml-language-server: $schema=task.schema.json
    key: t
    display_name: T
    description: !include README.md
    config_spec:
      - {type: int, key: n, display_name: N, min: 1, default_value: $COUNT}
      - $ref: parameters/column.yaml
    definition:
      dataset: {key: << config.data >>}
      solver:
        type: single_turn_solver
        message_format: << config.format >>
        input_builder:
          type: chat_completion
          input_messages:
            - {role: << config.role >>, content: "{{ sample.x }}"}
      scorers:
        - type: python
          compute_scores_snippet: !include scorer.py
          metrics: << config.metrics >>
        - $ref: scorers/equal.yaml
    """


def test_what_may_be_written_is_not_marked():
    assert marks("task", TASK) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param("key: t", "kay: t", id="unknown key"),
        pytest.param("type: single_turn_solver", "type: single", id="type"),
        pytest.param("min: 1", "min: one", id="number"),
        pytest.param("display_name: T", "display_name: [T]", id="text"),
        pytest.param("<< config.role >>", "usr", id="choice"),
        pytest.param("$ref: scorers/equal.yaml", "$reff: scorers/equal.yaml", id="reference"),
    ],
)
def test_what_may_not_be_written_is_marked(before, after):
    assert marks("task", TASK.replace(before, after))


def test_a_run_file_may_refer_to_files_everywhere():
    text = """
        models: [{$provider: openai/gpt-4.1-nano}, {$ref: m.yaml}]
        datasets: {$ref: datasets.yaml}
        tasks: [{$ref: t.yaml}]
        evaluation: {$ref: e.yaml}
        config: {model: openai$gpt-4-1-nano, n: 5}
        run_config: {num_samples: << config.n >>, subsampling: random}
        secrets: {key: $KEY}
        """
    assert marks("run", text) == []


def test_old_keys_are_marked_as_deprecated():
    properties = json_schema("evaluation")["properties"]
    assert [name for name, part in properties.items() if part.get("deprecated")] == [
        "mode",
        "num_samples",
        "subsampling",
        "cache_policy",
    ]
