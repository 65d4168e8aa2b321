"""What evalmill knows of and does not run is refused by name."""

import json

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import load
from tasks_lib.loading.schema import json_schema
from tasks_lib.loading.unsupported import KEYS, MEMBERS

TASK = {"key": "t", "display_name": "T", "description": "d", "definition": {}}


def task(**definition):
    return {**TASK, "definition": definition}


def dataset(source):
    return {"key": "d", "display_name": "D", "source": source}


def model(kind):
    return {"key": "m", "display_name": "M", "config": {"connection_type": kind, "url": "x"}}


def holding(holder, name):
    member = {"type": name, "model_key": "m"}
    match holder:
        case "source":
            return dataset(member)
        case "config":
            return model(name)
    raise AssertionError(f"add '{holder}' to this test")


@pytest.mark.parametrize(
    ("holder", "name"),
    [(holder, name) for holder, names in MEMBERS.items() for name in sorted(names)],
)
def test_a_member_that_is_not_built_is_refused_and_nothing_else_said(tmp_path, holder, name):
    (tmp_path / "file.yaml").write_text(json.dumps(holding(holder, name)))
    with pytest.raises(DefinitionErrors) as caught:
        load(tmp_path / "file.yaml")
    (complaint,) = caught.value.problems
    assert f"'{name}' is not supported yet" in str(complaint)


@pytest.mark.parametrize(
    "tree",
    [
        pytest.param(
            {"key": "d", "display_name": "D", "generator_specification": {"num_samples": 3}},
            id="generated dataset",
        ),
        pytest.param({"models": [], "dataset_generators": []}, id="generators"),
    ],
)
def test_a_key_that_is_not_built_is_refused_and_nothing_else_said(tmp_path, tree):
    (tmp_path / "file.yaml").write_text(json.dumps(tree))
    with pytest.raises(DefinitionErrors) as caught:
        load(tmp_path / "file.yaml")
    (complaint,) = caught.value.problems
    assert "is not supported yet" in str(complaint)


def test_the_table_holds_nothing_that_is_built():
    text = json.dumps([json_schema("run"), json_schema("task")])
    assert [key for key in sorted(KEYS) if f'"{key}":' in text] == []
