"""Files of both generations of the language resolve as they are."""

import pytest

from tasks_lib.resolve import Overrides, resolve
from tests.documented import GENERIC_INPUT, UNIQUENESS, UNIQUENESS_SCORER
from tests.resolve.project import DATASET, MODEL

OLDER = """\
evaluation:
  key: older
  display_name: Older
  mode: full
  num_samples: 4
  task_specifications:
    - task_key: singleturn-generic-input
      model_key: lab
    - task_key: uniqueness-task
      dataset_key: qa-single-answers
      task_config: {field: target}
"""

NEWER = """\
tasks:
  - $ref: generic.yaml
  - $ref: uniqueness.yaml
models:
  - $ref: lab.yaml
datasets:
  - $ref: datasets/qa.yaml
evaluation:
  key: newer
  display_name: Newer
  description: With placeholders wherever a key may stand.
  config_spec:
    - {type: model, key: tested model, display_name: Model, usage: model_under_test}
    - {type: dataset, key: data, display_name: Data}
    - {type: string, key: how, display_name: How, default_value: random}
  task_specifications:
    - task_key: singleturn-generic-input
      model_key: << config.tested model >>
      subsampling: << config.how >>
    - task_key: uniqueness-task
      task_config:
        field: target
        dataset_key: << config.data >>
config:
  tested model: lab
  data: qa-single-answers
run_config:
  num_samples: 4
"""


@pytest.fixture
def project(write_files):
    return write_files(
        {
            "pyproject.toml": "",
            "generic.yaml": GENERIC_INPUT,
            "uniqueness.yaml": UNIQUENESS,
            "uniqueness_scorer.py": UNIQUENESS_SCORER,
            "older.yaml": OLDER,
            "newer.yaml": NEWER,
            "lab.yaml": MODEL,
            "datasets/qa.yaml": DATASET.replace("key: qa", "key: qa-single-answers"),
        }
    )


def test_both_generations_mean_the_same(project):
    older = resolve(project / "older.yaml")
    newer = resolve(project / "newer.yaml")
    assert [spec.subsampling for spec in newer.specs] == ["random", "head"]
    assert [spec.num_samples for spec in newer.specs] == [4, 4]
    for old, new in zip(older.specs, newer.specs, strict=True):
        assert old.task == new.task
        assert old.config == new.config
        assert old.datasets == new.datasets
        assert old.model_key == new.model_key
        assert old.num_samples == new.num_samples
    assert older.models == newer.models
    advice = "\n".join(older.warnings)
    assert all(word in advice for word in ("'mode'", "'num_samples'", "'dataset_key'"))
    assert "'evaluated_entity_type'" in advice


@pytest.mark.parametrize(
    ("file", "overrides"),
    [
        ("generic.yaml", Overrides(model="lab")),
        ("uniqueness.yaml", Overrides(dataset="qa-single-answers", settings={"field": "target"})),
    ],
)
def test_documented_tasks_run_unchanged(project, file, overrides):
    (spec,) = resolve(project / file, overrides).specs
    assert spec.datasets["dataset"].key == "qa-single-answers"


def test_a_usage_fills_in_the_model_under_test(project, write_files):
    write_files({"newer.yaml": NEWER.replace("tested model: lab", "how: head")})
    resolved = resolve(project / "newer.yaml", Overrides(model="openai/gpt-4.1"))
    assert resolved.specs[0].model_key == "openai$gpt-4-1"
