"""A resolved evaluation can be stored and resolved again, and shows no secret."""

import json

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tasks_lib.resolve import Overrides, fingerprint, resolve
from tests.resolve.project import FILES

ANYWHERE = Overrides(allow_outside=True)  # a store may be anywhere

ANYTHING = """\
key: anything
display_name: Anything
description: Takes any config.
config_spec:
  - {type: string, key: text, display_name: T, nullable: true}
  - {type: list, key: words, display_name: W, dtype: string, default_value: [a]}
  - {type: dict, key: weights, display_name: W, value_dtype: float, default_value: {}}
  - {type: boolean, key: flag, display_name: F, default_value: false}
  - {type: int, key: whole, display_name: N, default_value: 0}
definition:
  scorers:
    - type: python
      compute_scores_snippet: |
        def compute_scores(sample):
            return {"x": sample["x"]}
      metrics:
        - {type: mean, field: x}
"""


@pytest.fixture
def project(write_files):
    return write_files({**FILES, "tasks/anything.yaml": ANYTHING})


def stored(resolved, folder):
    """Write the document where no other file is near, and return its path."""
    file = folder / "runs" / "r1" / "resolved.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(resolved.to_yaml(), encoding="utf-8")
    return file


@pytest.mark.parametrize(
    "overrides",
    [
        pytest.param(Overrides(), id="as written"),
        pytest.param(Overrides(model="together/meta-llama/Llama-3"), id="a provider's model"),
        pytest.param(Overrides(model="openai$gpt-4-1-nano", num_samples=3), id="a declared one"),
        pytest.param(Overrides(settings={"style": "long", "shots": "3"}), id="settings"),
        pytest.param(Overrides(subsampling="head", cache_policy="reuse"), id="sampling"),
    ],
)
def test_the_document_resolves_to_an_equal_evaluation(project, tmp_path, overrides):
    resolved = resolve(project / "run.yaml", overrides)
    again = resolve(stored(resolved, tmp_path / "store"), ANYWHERE)
    assert again == resolved
    assert again.to_document() == resolved.to_document()
    assert [fingerprint(spec, again.models) for spec in again.specs] == [
        fingerprint(spec, resolved.models) for spec in resolved.specs
    ]


def test_a_bound_task_file_is_stored_with_its_dataset(project, tmp_path, write_files):
    write_files({"other/data.csv": "question,target\na,b\n"})
    overrides = Overrides(model="lab", dataset=str(project / "other/data.csv"))
    resolved = resolve(project / "tasks/trivia.yaml", overrides)
    again = resolve(stored(resolved, tmp_path / "store"), ANYWHERE)
    assert again == resolved
    assert again.specs[0].datasets["dataset"].key == "data"


PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=12)
TRICKY = PRINTABLE | st.sampled_from(
    ["<< config.text >>", "a << config.none >> b", "<< secrets.x >>", "yes", "1e3", "~", "{{ x }}"]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(
    config=st.fixed_dictionaries(
        {},
        optional={
            "text": st.none() | TRICKY,
            "words": st.lists(TRICKY, max_size=3),
            "weights": st.dictionaries(PRINTABLE.filter(len), st.floats(-9, 9), max_size=3),
            "flag": st.booleans() | st.sampled_from(["yes", "off"]),
            "whole": st.integers(),
        },
    )
)
def test_any_config_value_survives_storing(project, tmp_path, config):
    # through the evaluation's config, whose values are never taken for placeholders
    parameters = yaml.safe_load(ANYTHING)["config_spec"]
    run = {
        "evaluation": {
            "key": "e",
            "display_name": "E",
            "config_spec": [spec for spec in parameters if spec["key"] in config],
            "task_specifications": [
                {
                    "task_key": "anything",
                    "task_config": {
                        "dataset_key": "qa",
                        **{name: f"<< config.{name} >>" for name in config},
                    },
                }
            ],
        },
        "config": config,
    }
    file = project / "any.json"
    file.write_text(json.dumps(run), encoding="utf-8")
    resolved = resolve(file)
    for name in config.keys() - {"flag"}:
        assert resolved.specs[0].config[name] == config[name]
    assert resolve(stored(resolved, tmp_path / "store"), ANYWHERE) == resolved


LEAKY = """\
secrets:
  lab: CANARY-6
  kept: $LAB_SECRET
models:
  - key: m
    display_name: M
    secrets: {own: CANARY-7}
    config:
      url: http://user:CANARY-2@127.0.0.1:9/v1?token=CANARY-3
      api_key: sk-CANARY-4
      model_key: served-name
      adapter: {key: latticeflow$openai_chat_completion}
      custom_headers:
        Authorization: Bearer CANARY-5
        X-Org: lab
        X-Key: << secrets.lab >>
evaluation:
  key: e
  display_name: E
  task_specifications:
    - {task_key: trivia, model_key: m}
"""


def test_br_099_no_literal_secret_is_stored(project, tmp_path, monkeypatch, write_files):
    write_files({"leaky.yaml": LEAKY})
    resolved = resolve(project / "leaky.yaml")
    text = json.dumps(resolved.to_document())
    assert "CANARY" not in text
    assert "CANARY" not in repr(resolved.secrets and resolved.to_document())
    model = resolved.to_document()["models"][0]
    assert model["config"]["url"] == "http://127.0.0.1:9/v1"
    assert model["config"]["model_key"] == "served-name"
    assert model["config"]["api_key"] == "$M_API_KEY"
    assert model["config"]["custom_headers"] == {
        "Authorization": "$M_AUTHORIZATION",
        "X-Org": "lab",
        "X-Key": "<< secrets.lab >>",
    }
    assert model["secrets"] == {"own": "$M_OWN"}
    assert resolved.to_document()["secrets"] == {"lab": "$SECRET_LAB", "kept": "$LAB_SECRET"}
    again = resolve(stored(resolved, tmp_path / "store"), ANYWHERE)
    assert again.to_document() == resolved.to_document()
    assert again.models["m"].config.api_key == "$M_API_KEY"


def test_secrets_named_by_reference_are_never_expanded(project, monkeypatch):
    monkeypatch.setenv("LAB_API_KEY", "CANARY-8")
    resolved = resolve(project / "run.yaml")
    assert resolved.models["lab"].config.api_key == "$LAB_API_KEY"
    assert "CANARY" not in json.dumps(resolved.to_document())
