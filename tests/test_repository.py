"""What a stranger finds: files that load, a README that is true, nothing of our workplaces."""

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from flows.cli.app import VERBS
from tasks_lib.loading import load
from tests.command_line import CommandLine

REPOSITORY = Path(__file__).parents[1]
NOT_OURS = (".git", ".venv", ".evalmill", ".hypothesis", "*_cache", "__pycache__", "*.egg-info")
SCHEMA_LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)")
WORKPLACE = re.compile(
    r"/(?:home|Users|root|work)/\w"  # somebody's folders
    r"|\bindex[-]url\b"  # somebody's package index
    r"|\b(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d+\.\d+\b",  # somebody's network
)


def files() -> Iterator[Path]:
    """Every file of the repository, caches and environments apart."""
    for path in sorted(REPOSITORY.rglob("*")):
        parts = path.relative_to(REPOSITORY).parts
        if path.is_file() and not any(fnmatch(part, no) for part in parts for no in NOT_OURS):
            yield path


def named(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


SHIPPED = [
    path
    for path in files()
    if path.suffix in {".yaml", ".yml"}
    and named(path).split("/")[0] in {"tasks_lib", "datasets", "deployments"}
    and path.name != "prefect.yaml"  # Prefect's own format
]
README = REPOSITORY / "README.md"
COMMANDS = [
    line.strip()
    for block in re.findall(r"```(?:bash|sh|console)\n(.*?)```", README.read_text(), re.DOTALL)
    for line in block.splitlines()
    if line.strip() and not line.strip().startswith("#")
]


class AsText(yaml.SafeLoader):
    """Reads `!include PATH` as text, as an editor does."""


AsText.add_constructor("!include", lambda loader, node: node.value)


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_shipped_yaml_loads(path: Path) -> None:
    document = load(path)
    assert document.warnings == ()


@pytest.mark.parametrize("path", SHIPPED, ids=named)
def test_shipped_yaml_passes_the_schema_it_names_for_editors(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    line = SCHEMA_LINE.fullmatch(text.splitlines()[0])
    assert line, "the first line must name the schema"
    schema = json.loads((path.parent / line[1]).read_text(encoding="utf-8"))
    jsonschema.validate(yaml.load(text, AsText), schema)


def test_nothing_of_a_workplace() -> None:
    found = []
    for path in files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        lines = enumerate(text.splitlines(), start=1)
        found += [f"{named(path)}:{n}: {line[:80]}" for n, line in lines if WORKPLACE.search(line)]
    assert found == []


def test_ci_runs_the_commands_of_the_readme() -> None:
    ci = (REPOSITORY / ".ci/run").read_text()
    first, second = (line for line in COMMANDS if line.startswith("python3 -m venv"))
    assert first in ci
    assert "evalmill run" in first
    assert second in ci
    assert "pytest" in second


def evalmill_commands() -> dict[str, list[str]]:
    """The README's calls of evalmill, each as its words after `evalmill`."""
    calls = (call for line in COMMANDS for call in line.split("&&") if "evalmill" in call)
    words = {call.strip(): shlex.split(call, comments=True) for call in calls}
    return {
        call: parts[1:] for call, parts in words.items() if parts[0].split("/")[-1] == "evalmill"
    }


@pytest.mark.parametrize("words", [pytest.param(w, id=c) for c, w in evalmill_commands().items()])
def test_readme_commands_exist(words: list[str], evalmill: CommandLine) -> None:
    verb = words[0]
    assert verb in VERBS
    known = evalmill(verb, "--help").stdout
    for word in words:
        if word.startswith("-"):
            assert re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", known), word
        elif "/" in word and not word.startswith("<"):
            assert (REPOSITORY / word).exists()


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_has_help_with_an_example(verb: str, evalmill: CommandLine) -> None:
    done = evalmill(verb, "--help")
    assert (done.exit_code, done.stderr) == (0, "")
    assert f"evalmill {verb}" in done.stdout
    assert "Example" in done.stdout


def test_readme_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#\s]+)", README.read_text())
    assert [link for link in links if "://" not in link and not (REPOSITORY / link).exists()] == []


def test_license() -> None:
    text = (REPOSITORY / "LICENSE").read_text()
    assert text.split()[:6] == ["Apache", "License", "Version", "2.0,", "January", "2004"]
    assert "END OF TERMS AND CONDITIONS" in text
    project = project_table()
    assert (project["license"], project["license-files"]) == ("Apache-2.0", ["LICENSE"])


def project_table() -> Any:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
