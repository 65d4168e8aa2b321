"""Fingerprints and columns of resolved specifications."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.loading import load
from tasks_lib.resolve import check_dataset_columns, fingerprint, resolve, undefined_names
from tasks_lib.resolve.resolved import NO_OVERRIDES
from tests.resolve.project import DATASET, MODEL, RUN, TASK, UNIQUENESS, at

FILES = {
    "pyproject.toml": "",
    "run.yaml": RUN,
    "tasks/trivia.yaml": TASK,
    "tasks/uniqueness.yaml": UNIQUENESS.replace("type: string", "type: dataset_column"),
    "tasks/snippets/unique.py": at("unique.py"),
    "datasets/qa.yaml": DATASET,
    "models/lab.yaml": MODEL,
}


def prints(project, overrides=NO_OVERRIDES):
    resolved = resolve(project / "run.yaml", overrides)
    return [fingerprint(spec, resolved.models) for spec in resolved.specs]


@pytest.mark.parametrize(
    ("file", "old", "new", "same"),
    [
        pytest.param("tasks/trivia.yaml", "Answer", "Reply", False, id="the prompt"),
        pytest.param("run.yaml", "amount: 5", "amount: 6", False, id="the number of samples"),
        pytest.param("models/lab.yaml", "lab-1", "lab-2", False, id="the provider's model"),
        pytest.param("tasks/trivia.yaml", "Asks trivia.", "Trivia!", True, id="a description"),
        pytest.param("models/lab.yaml", "$LAB_API_KEY", "$OTHER_KEY", True, id="the key's name")
    ],
)  # fmt: skip
def test_a_fingerprint_changes_with_what_matters(write_files, file, old, new, same):
    before = prints(write_files(FILES))
    after = prints(write_files({file: FILES[file].replace(old, new)}))
    assert (before[0] == after[0]) is same


def test_a_fingerprint_changes_with_a_snippet(write_files):
    before = prints(write_files(FILES))
    after = prints(write_files({"tasks/snippets/unique.py": at("unique.py") + "\nX = 1\n"}))
    assert before[0] == after[0]
    assert before[1] != after[1]


def test_columns_are_checked_when_they_are_known(write_files):
    _, unique = resolve(write_files(FILES) / "run.yaml").specs
    check_dataset_columns(unique, ["question", "target"])
    with pytest.raises(DefinitionErrors, match="no column 'target'; did you mean 'targets'"):
        check_dataset_columns(unique, ["question", "targets"])


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
