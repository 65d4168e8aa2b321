from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import loads
from tasks_lib.scorers.base import AllSamplesScorer, SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.steps.outcomes import score_record, score_together, scorer_rows, with_unsolved
from tests.engine import ASK, EQUALS, Engine, python_scorer, saying
from tests.results.rows import RECORD

FAILED = replace(RECORD, status="error", error_class="infra", error_message="HTTP 500")


class Picky(SampleScorer):
    """Scores numbers under 3, and fails on others in different ways."""

    type: str = "picky"

    def judge(self, row: Row) -> Score:
        number = row.sample["n"]
        if number == 3:
            raise SampleError("judge", "unreadable")
        return Score({"inverse": 1 / number})


class Together(AllSamplesScorer):
    """Scores all rows by their rank, unless one is named `bad`."""

    type: str = "together"

    def score_all(self, rows: Sequence[Row], datasets: Any = None) -> list[Score]:
        if any(row.sample["n"] == "bad" for row in rows):
            raise ValueError("bad")
        return [Score({"rank": i}) for i in range(len(rows))]


def rows(*numbers: Any) -> list[Row]:
    return [Row({"n": number}, None) for number in numbers]


def test_a_row_that_fails_is_an_error_of_its_own():
    one, zero, three, two = Picky().score_each(rows(1, 0, 3, 2))
    assert isinstance(one, Score)
    assert isinstance(two, Score)
    assert isinstance(zero, SampleError)
    assert isinstance(three, SampleError)
    assert (zero.error_class, zero.problem) == ("code", "ZeroDivisionError: division by zero")
    assert (three.error_class, three.problem) == ("judge", "unreadable")


def test_what_scores_all_rows_fails_for_all():
    assert [s.values for s in score_together(Together(), rows(1, 2), None)] == [  # type: ignore[union-attr]
        {"rank": 0},
        {"rank": 1},
    ]
    failed = score_together(Together(), rows(1, "bad", 2), None)
    assert [error.problem for error in failed] == ["ValueError: bad"] * 3  # type: ignore[union-attr]


def test_outcomes_go_to_the_rows_that_were_solved():
    records = [RECORD, FAILED, RECORD]
    a, b = Score({"s": 1}), SampleError("code", "x")
    assert with_unsolved(records, [a, b]) == [a, None, b]


def test_every_row_is_in_one_state_with_its_reason():
    records = [RECORD, FAILED, replace(RECORD, sample_index=2), replace(FAILED, error_message=None)]
    outcomes = [Score({"s": 1}, {"why": "ü\ud800"}), None, SampleError("code", "boom"), None]
    scores = list(map(score_record, records, outcomes))
    assert [score.values for score in scores] == [{"s": 1}, None, None, None]
    assert [(score.status, score.error_class, score.error_message) for score in scores] == [
        ("ok", None, None),
        ("error", "infra", "not scored: HTTP 500"),
        ("error", "code", "boom"),
        ("error", "infra", "not scored: error"),
    ]
    assert loads(scores[0].metadata or "") == {"why": "ü\ud800"}
    assert not any(score.excluded or score.action_rules for score in scores)


def test_scorers_see_rows_as_they_are_stored():
    stored = replace(
        RECORD,
        sample='{"n":123456789012345678901234567890}',
        trace='{"items":[{"type":"message","role":"assistant","content":"hi"}]}',
        raw_outputs='[{"answer":1}]',
    )
    (bare,) = scorer_rows([stored], None)
    assert (bare.sample, bare.solver_output) == ({"n": 123456789012345678901234567890}, None)


@pytest.mark.parametrize("batch_size", [1, 3])
def test_one_bad_scorer_leaves_the_others_standing(tmp_path: Path, batch_size: int):
    odd = python_scorer("def compute_scores(sample):\n    return {'s': 1 / sample['n']}", "s")
    data = [{"q": "?", "a": "x", "n": n} for n in (1, 0, 2)]
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS, odd]}
    ran = Engine(tmp_path).run(
        definition, data, models=[saying(default="x")], batch_size=batch_size
    )
    assert list(ran.run.scores("right")["status"]) == ["ok"] * 3
    scores = ran.run.scores("own")
    assert list(scores["status"]) == ["ok", "error", "ok"]
    assert "ZeroDivisionError" in scores["error_message"][1]
    assert (ran.metrics["s"]["n"], ran.metrics["s"]["n_error"]) == (2, 1)
    assert ran.spec["n_error"] == 1
