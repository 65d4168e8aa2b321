"""The YAML files that ship with evalmill: in order, and described by a schema that ships too."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tasks_lib.loading.kinds import MODELS, Kind, kind_of
from tasks_lib.loading.schema import json_schema
from tests.command_line import REPOSITORY, CommandLine

SCHEMAS = REPOSITORY / "deployments" / "schemas"
NOT_OURS = {"prefect.yaml"}  # in the form that Prefect's own command reads
FILES = [
    path
    for folder in ("datasets", "deployments", "tasks_lib/catalog")
    for path in sorted((REPOSITORY / folder).rglob("*.yaml"))
    if path.name not in NOT_OURS
]


class AnyTag(yaml.SafeLoader):
    """Reads YAML for its keys alone; `!include` gives its path."""


AnyTag.add_constructor("!include", lambda loader, node: node.value)


def names(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("path", FILES, ids=names)
def test_a_shipped_file_names_the_schema_of_its_kind(path: Path):
    text = path.read_text(encoding="utf-8")
    line = re.match(r"# yaml-language-server: \$schema=(\S+)\n", text)
    assert line is not None, "the first line names no schema"
    kind = kind_of(yaml.load(text, AnyTag))
    assert (path.parent / line[1]).resolve() == SCHEMAS / f"{kind}.json"


@pytest.mark.parametrize("kind", MODELS)
def test_a_shipped_schema_is_what_evalmill_schema_prints(kind: Kind):
    shipped = json.loads((SCHEMAS / f"{kind}.json").read_text(encoding="utf-8"))
    assert shipped == json_schema(kind), (
        f"write it again: evalmill schema {kind} > deployments/schemas/{kind}.json"
    )


def test_shipped_files_are_in_order(evalmill: CommandLine):
    checked = evalmill("check", *FILES)
    assert checked.exit_code == 0, checked.stderr
