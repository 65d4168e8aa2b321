"""Keys are found among the files of a project, nearest first."""

from pathlib import Path

import pytest

from tasks_lib.resolve.project import Project

DATASET = "key: {key}\ndisplay_name: D\nsource: {{type: local, file_path: x.csv}}\n"
TASK = "display_name: T\nkey: '{key}'  # quoted\ndefinition:\n  key: inner\n"


@pytest.fixture
def files(write_files):
    return write_files(
        {
            "pyproject.toml": "",
            "datasets/qa.yaml": DATASET.format(key="qa"),
            "datasets/deep/er.yml": DATASET.format(key="deep"),
            "tasks/t.yaml": TASK.format(key="t"),
            "models/broken.yaml": "key: [\nconfig: {\n",
            "datasets/binary.yaml": b"\xff\xfe\x00",
            "teams/a/run.yaml": "evaluation: {}\n",
            "teams/a/beside.yaml": TASK.format(key="beside"),
            "teams/a/datasets/qa.yaml": DATASET.format(key="qa"),
            "teams/b/datasets/other.yaml": DATASET.format(key="other"),
        }
    )


@pytest.mark.parametrize(
    ("kind", "key", "expected"),
    [
        pytest.param("task", "beside", "teams/a/beside.yaml", id="beside the file"),
        pytest.param("dataset", "qa", "teams/a/datasets/qa.yaml", id="the nearest folder wins"),
        pytest.param("task", "t", "tasks/t.yaml", id="a folder above, key quoted"),
        pytest.param("dataset", "deep", "datasets/deep/er.yml", id="in a folder below"),
        pytest.param("dataset", "other", None, id="not in another branch"),
        pytest.param("model", "qa", None, id="not of another kind"),
        pytest.param("task", "inner", None, id="not by an inner key"),
    ],
)
def test_find(files, kind, key, expected):
    found = Project(files / "teams/a/run.yaml").find(kind, key)
    assert found == (files / expected if expected else None)


def test_files_outside_of_the_project_are_not_looked_at(files, write_files, tmp_path):
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "above.yaml").write_text(DATASET.format(key="above"))
    assert Project(files / "teams/a/run.yaml").find("dataset", "above") is None


def test_the_working_directory_is_looked_at(files, monkeypatch):
    monkeypatch.chdir(files)
    assert Project(Path("/nowhere/run.yaml")).find("dataset", "deep") is not None
    assert "t" in Project(Path("/nowhere/run.yaml")).keys("task")
