import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.model_as_a_judge_scorer import ModelAsAJudgeScorer
from tests.scorers.judges import Judge, outcomes, scored
from tests.scorers.rows import chat, row, solved


def scale(**fields) -> ModelAsAJudgeScorer:
    return ModelAsAJudgeScorer(model_key="judge", user_prompt="Rate.", **fields)


ANSWERED = row(solved(chat("Paris"), said="Paris"))


def test_br_040_scores_are_normalised_from_the_minimum_and_never_clamped():
    found = outcomes(scale(score_min=1, score_max=5), ANSWERED, ["1", "3", "5", "6", "0"])
    scores = [o.values["score"] for o in found if not isinstance(o, SampleError)]
    assert scores == [0.0, 0.5, 1.0]
    for said, error in zip(("6", "0"), found[3:], strict=True):
        assert isinstance(error, SampleError)
        assert error.error_class == "judge"
        assert f"the score {said} is outside 1 to 5" in error.problem


def test_the_raw_score_and_the_reasons_are_kept():
    reply = json.dumps({"reasoning": "Good.", "score": 4, "confidence": "high"})
    score = scored(scale(score_min=0, score_max=10), ANSWERED, Judge(reply))
    assert score.values == {"score": 0.4}
    kept = {name: score.metadata[name] for name in ("raw_score", "reasoning", "confidence")}
    assert kept == {"raw_score": 4, "reasoning": "Good.", "confidence": None}


def test_a_score_off_the_scale_is_asked_for_again():
    judge = Judge("6", "3")
    score = scored(scale(score_min=1, score_max=5), ANSWERED, judge)
    assert score.values == {"score": 0.5}
    assert [call["output"] for call in score.metadata["judge_calls"]] == ["6", "3"]


def test_without_words_the_scale_goes_from_0_to_1():
    judge = Judge("0.25")
    assert scored(scale(), ANSWERED, judge).values == {"score": 0.25}
    assert "a number from 0 to 1" in judge.prompts[0][0]


@pytest.mark.parametrize(
    ("low", "high", "complaint"),
    [
        (5, 5, "must be less than"),
        (5, 1, "must be less than"),
        (0, "none", "number"),
        (0, float("nan"), "finite"),
        (-1e308, 1e308, "too long"),
    ],
    ids=["equal", "the wrong way round", "no number", "not a number", "too long"],
)
def test_br_040_a_scale_that_is_none_is_refused(low, high, complaint):
    with pytest.raises(ValidationError, match=complaint):
        scale(score_min=low, score_max=high)


def test_numbers_may_be_written_as_text():
    assert scale(score_min="1", score_max="5.5").wanted.high == 5.5


@given(
    st.floats(-1e6, 1e6),
    st.floats(0.001, 1e6),
    st.floats(0, 1),
)
def test_br_040_a_score_on_the_scale_lands_from_0_to_1(low, width, share):
    scorer = scale(score_min=low, score_max=low + width)
    raw = min(max(low + share * width, scorer.score_min), scorer.score_max)
    (score,) = outcomes(scorer, ANSWERED, [json.dumps({"score": raw})])
    assert 0.0 <= score.values["score"] <= 1.0
