"""Scores that lie between 0 and 1 by definition get bounds and intervals that end there."""

import pytest

from tasks_lib.results.score_records import ScoreRecord, score_table
from tasks_lib.results.scores import field_kinds
from tasks_lib.scorers.bleu import Bleu
from tasks_lib.scorers.function_call_coverage import FunctionCallCoverage
from tasks_lib.scorers.model_as_a_judge_scorer import ModelAsAJudgeScorer
from tasks_lib.scorers.rag_checker import RagChecker
from tasks_lib.scorers.string_equals import StringEquals


@pytest.mark.parametrize(
    ("scorer", "shares"),
    [
        pytest.param(Bleu(ground_truth="x"), {"bleu_score"}, id="bleu"),
        pytest.param(
            FunctionCallCoverage(type="function_call_coverage", function_calls="[]"),
            {"required_calls_coverage"},
            id="coverage, not the counts beside it",
        ),
        pytest.param(
            ModelAsAJudgeScorer(type="model_as_a_judge_scorer", model_key="j", user_prompt="?"),
            {"score"},
            id="a judge's grade on its scale",
        ),
        pytest.param(
            RagChecker(
                type="rag_checker",
                judge_model_key="j",
                target_column="t",
                mode="required_and_optional",
                scores_to_compute=("precision",),
            ),
            {"precision", "required_precision"},
            id="claims, of both sets",
        ),
        pytest.param(
            StringEquals(type="string_equals", ground_truth="x"), set(), id="booleans need no word"
        ),
    ],
)
def test_a_scorer_names_its_shares(scorer, shares):
    assert scorer.shares() == shares


def test_a_share_is_stored_as_one():
    values = [{"s": 0.5, "n": 3}, {"s": 1, "n": 4}]
    rows = [ScoreRecord(str(i), i, 0, 0, "ok", values=v) for i, v in enumerate(values)]
    table = score_table(rows, {"s"})
    assert field_kinds(table.schema) == {"s": "share", "n": "number"}
