"""`$NAME` in definitions, and `.env` files."""

import os

import pytest

from tasks_lib.definitions.evaluation import RunConfig
from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.loading import load_environment, validate


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("$A", "1"),
        ('"${A}"', "1"),
        ("$A$B", "12"),
        ("$A.x", "1.x"),
        ("pre $A post", "pre $A post"),
        (r"'\$A'", r"\$A"),
        ("$UNSET", "$UNSET"),
        ("${UNSET}", "${UNSET}"),
        ("${A:-d}", "${A:-d}"),
        ("$5 a month", "$5 a month"),
    ],
)
def test_variables_are_expanded_in_text_that_starts_with_one(project, monkeypatch, written, read):
    monkeypatch.setenv("A", "1")
    monkeypatch.setenv("B", "2")
    monkeypatch.delenv("UNSET", raising=False)
    document = project({"run.yaml": f"config:\n  a: {written}\n"}, "run.yaml")
    assert document.tree["config"] == {"a": read}


def test_secrets_stay_references(project, monkeypatch):
    monkeypatch.setenv("KEY", "sk-very-secret")
    monkeypatch.setenv("URL", "https://models.example/v1")
    document = project(
        {
            "run.yaml": """
                secrets: {key: $KEY}
                models:
                  - key: m
                    display_name: M
                    secrets: {own: $KEY}
                    config:
                      url: $URL
                      api_key: $KEY
                      custom_headers: {X-Key: $KEY}
                      tls_context: {validation_context: {trusted_ca: $KEY}}
                """
        },
        "run.yaml",
    )
    assert "sk-very-secret" not in str(document.tree)
    assert document.tree["models"][0]["config"]["url"] == "https://models.example/v1"


def test_a_variable_becomes_the_type_that_is_wanted(project, monkeypatch):
    monkeypatch.setenv("NUM", "42")
    document = project({"run.yaml": "run_config: {num_samples: $NUM}"}, "run.yaml")
    assert validate(document, RunConfig, ("run_config",)).num_samples == 42


def test_an_unset_variable_is_named_where_its_value_is_needed(project, monkeypatch):
    monkeypatch.delenv("NUM", raising=False)
    with pytest.raises(DefinitionErrors) as caught:
        project({"run.yaml": "run_config: {num_samples: $NUM}"}, "run.yaml")
    assert str(caught.value) == (
        "run.yaml:1: run_config.num_samples: '$NUM' is not a whole number; "
        "set the environment variable 'NUM'"
    )


def test_environment_files(write_files, monkeypatch):
    for name in ("FROM_SHELL", "FROM_DOTENV", "FROM_BOTH", "FROM_EXTRA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FROM_SHELL", "shell")
    folder = write_files(
        {
            ".env": "FROM_SHELL=dotenv\nFROM_DOTENV=dotenv\nFROM_BOTH=dotenv\n",
            "extra.env": "FROM_BOTH=extra\nFROM_EXTRA=extra\n",
        }
    )
    monkeypatch.chdir(folder)
    load_environment(folder / "extra.env")
    names = ("FROM_SHELL", "FROM_DOTENV", "FROM_BOTH", "FROM_EXTRA")
    assert [os.environ[name] for name in names] == ["shell", "dotenv", "extra", "extra"]
    for name in names[1:]:
        monkeypatch.delenv(name)


def test_an_environment_file_that_is_named_must_exist(tmp_path):
    with pytest.raises(DefinitionError, match="does not exist"):
        load_environment(tmp_path / "none.env")
