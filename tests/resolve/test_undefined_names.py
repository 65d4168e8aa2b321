"""Placeholders that name no parameter."""

import pytest

from tasks_lib.loading import load
from tasks_lib.resolve import undefined_names
from tests.resolve.project import FILES


@pytest.mark.parametrize(
    ("file", "old", "new", "where"),
    [
        pytest.param(
            "tasks/trivia.yaml", "<< config.shots", "<< config.shot", "definition", id="task"
        ),
        pytest.param(
            "run.yaml", "<< config.amount", "<< config.amuont", "evaluation", id="run file"
        ),
        pytest.param(
            "tasks/uniqueness.yaml",
            "!include snippets/unique.py",
            "'def compute_scores(samples): return << config.x >>'",
            "definition",
            id="a snippet",
        ),
    ],
)
def test_undefined_names_are_found_without_values(write_files, file, old, new, where):
    project = write_files(FILES)
    assert undefined_names(load(project / file)) == []
    write_files({file: FILES[file].replace(old, new)})
    (problem,) = undefined_names(load(project / file))
    assert "is not defined" in problem.problem
    assert where in problem.where
