"""Which files definitions may name."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import load
from tasks_lib.loading.files import project_of


def test_an_absolute_path_is_fine_inside_the_project(write_files):
    folder = write_files({"pyproject.toml": "", "about.md": "hello"})
    (folder / "run.yaml").write_text(f"config: {{a: !include '{folder}/about.md'}}")
    assert load(folder / "run.yaml").tree["config"] == {"a": "hello"}


def test_the_project_is_the_folder_of_the_file_when_nothing_marks_one(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "secret.txt").write_text("secret")
    (inner / "run.yaml").write_text("config: {a: !include ../secret.txt}")
    with pytest.raises(DefinitionErrors, match=r"config.a: '../secret.txt' leaves the project"):
        load(inner / "run.yaml")


def test_a_store_marks_a_project_but_not_the_home_folder(tmp_path, monkeypatch):
    home = tmp_path / "home"
    for folder in (home / ".evalmill", home / "work/.evalmill", home / "work/tasks", home / "x"):
        folder.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert project_of(home / "work/tasks/t.yaml") == home / "work"
    assert project_of(home / "x/t.yaml") == home / "x"


def test_links_do_not_lead_out_of_the_project(tmp_path, write_files):
    folder = write_files({"project/.evalmill/x": "", "outside.txt": "secret"})
    (folder / "project/link.txt").symlink_to(folder / "outside.txt")
    (folder / "project/run.yaml").write_text("config: {a: !include link.txt}")
    with pytest.raises(DefinitionErrors, match="leaves the project"):
        load(folder / "project/run.yaml")


def test_a_file_that_does_not_exist_is_one_problem(tmp_path):
    with pytest.raises(DefinitionErrors, match=r"none.yaml.*can't be read: No such file"):
        load(tmp_path / "none.yaml")


@pytest.mark.parametrize(
    ("text", "name"),
    [("config: {a: !include big}", "big"), ("models: [{$ref: big.yaml}]", "big.yaml")],
)
def test_no_file_may_be_huge(project, text, name):
    big = "x: " + "y" * 10_000_000
    with pytest.raises(DefinitionErrors, match=f"'{name}' has more than 10,000,000 bytes"):
        project({"run.yaml": text, name: big}, "run.yaml")
