from pathlib import Path
from typing import Any

import pytest

from tasks_lib.plan.preflight import null_warnings
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import Overrides, resolve
from tests.engine import ASK, EQUALS, Engine, saying

JUDGE = {
    "type": "model_as_a_judge_classifier",
    "model_key": "lab",
    "user_prompt": "Is it {{ sample.c }}?",
    "correct_labels": ["good"],
    "incorrect_labels": ["bad"],
}


def warnings(folder: Path, data: Any, **definition: Any) -> list[str]:
    whole = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS], **definition}
    evaluation = resolve(Engine(folder).write(whole, data, models=[saying()]), Overrides())
    return null_warnings(evaluation, open_rows(evaluation))


def test_nulls_are_counted_by_column_wherever_a_template_writes_them(tmp_path: Path):
    data = [{"q": "?", "a": None}, {"q": None, "a": None}, {"q": None, "a": "x"}]
    empty, wrong = warnings(tmp_path, data)
    assert empty == (
        "exam: column 'a' is empty in 2 of the first 3 samples and written as 'None'; "
        "to leave it out, write {{ sample.a or '' }}"
    )
    assert wrong.startswith("exam: column 'q' is empty in 2 of the first 3 samples")


def test_what_judges_are_asked_counts(tmp_path: Path):
    data = [{"q": "?", "c": None}, {"q": "?", "c": "good"}]
    (told,) = warnings(tmp_path, data, scorers=[JUDGE])
    assert told.startswith("exam: column 'c' is empty in 1 of the first 2 samples")


def test_a_null_that_nobody_writes_is_no_matter(tmp_path: Path):
    assert warnings(tmp_path, [{"q": "?", "a": "x", "unused": None}]) == []


@pytest.mark.parametrize(
    ("prompt", "told"),
    [
        ("{{ sample.q }}", True),
        ("{{ sample['q'] }}", True),
        ("{{ sample.q | default('') }}", True),
        ("{{ sample.q or '' }}", False),
        ("{% if sample.q %}{{ sample.q }}{% endif %}", False),
        ("{{ sample | tojson }}", False),
    ],
)
def test_what_a_template_makes_of_a_null_counts(tmp_path: Path, prompt: str, told: bool):
    messages = [{"role": "user", "content": prompt}]
    solver = {**ASK, "input_builder": {"type": "chat_completion", "input_messages": messages}}
    assert bool(warnings(tmp_path, [{"q": None, "a": "x"}], solver=solver)) is told
