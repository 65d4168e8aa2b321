"""What a fingerprint changes with."""

import pytest

from tasks_lib.resolve import fingerprint, resolve
from tasks_lib.resolve.resolved import NO_OVERRIDES
from tests.resolve.project import FILES, at


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
