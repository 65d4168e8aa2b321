from pathlib import Path

import pytest

from tasks_lib.exit_codes import DONE, GATE_FAILED, TOO_MANY_ERRORS
from tasks_lib.report.endings import ending, failure_notes
from tests.engine import ASK, EQUALS, Engine, python_scorer, saying


@pytest.mark.parametrize(
    ("status", "code", "words"),
    [
        ("complete", DONE, "complete"),
        ("running", None, "running"),
        ("complete", GATE_FAILED, "complete, a gate failed"),
        ("failed", TOO_MANY_ERRORS, "failed, too many rows failed"),
    ],
)
def test_an_ending_says_what_the_exit_code_adds(status: str, code: int | None, words: str):
    assert ending(status, code) == words


def test_failures_are_counted_by_place_and_class_with_an_example(tmp_path: Path):
    odd = python_scorer("def compute_scores(sample):\n    return {'s': 1 / sample['n']}")
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS, odd]}
    data = [{"q": f"{i}?", "a": "x", "n": i % 2} for i in range(6)] + [{"a": "x", "n": 1}]
    filtered = {"contains": "3?", "error": {"status": 400, "message": "filtered\x1b[2J"}}
    ran = Engine(tmp_path).run(
        definition, data, models=[saying(filtered, default="x")], batch_size=2
    )
    solver, template, scorer = failure_notes(ran.run)
    assert solver.startswith("exam: 1 row failed in the solver (model error), first sample '3': ")
    assert r"filtered\x1b[2J" in solver
    assert template.startswith(
        "exam: 1 row failed in the solver (template error), first sample '6'"
    )
    assert scorer.startswith("exam: 3 rows failed in the scorer own (code error), first sample '0'")


def test_a_run_without_failures_has_nothing_to_tell(tmp_path: Path):
    definition = {"dataset": {"key": "qa"}, "scorers": [EQUALS]}
    scorer = {**EQUALS, "value": "{{ sample.a }}"}
    ran = Engine(tmp_path).run({**definition, "scorers": [scorer]}, [{"a": "x"}])
    assert failure_notes(ran.run) == []
