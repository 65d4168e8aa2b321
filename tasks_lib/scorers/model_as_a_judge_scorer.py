"""`model_as_a_judge_scorer`: a model gives points on a scale."""

from math import isfinite
from typing import Any, Literal, Self

from pydantic import model_validator

from tasks_lib.scorers.judging.base import JudgeScorer
from tasks_lib.scorers.judging.kinds import Scale
from tasks_lib.scorers.judging.verdicts import Verdict


class ModelAsAJudgeScorer(JudgeScorer):
    """Asks a model for a number on a scale; `score` is where on it, from 0 to 1.

    A number outside the scale is asked for again, and at last an error: never clamped.
    """

    type: Literal["model_as_a_judge_scorer"] = "model_as_a_judge_scorer"
    score_min: float = 0.0
    """The worst score the judge may give; it becomes 0."""
    score_max: float = 1.0
    """The best score the judge may give; it becomes 1."""

    @model_validator(mode="after")
    def _is_a_scale(self) -> Self:
        if self.score_min >= self.score_max:
            raise ValueError(
                f"'score_min' ({self.score_min:g}) must be less than "
                f"'score_max' ({self.score_max:g})"
            )
        if not isfinite(self.score_max - self.score_min):
            raise ValueError("the scale from 'score_min' to 'score_max' is too long")
        return self

    @property
    def wanted(self) -> Scale:
        return Scale(self.score_min, self.score_max)

    def scored(self, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"score": self.wanted.share(verdict.answer)}, {
            "raw_score": verdict.answer,
            "reasoning": verdict.reasoning,
            "confidence": verdict.confidence,
        }

    def shares(self) -> frozenset[str]:
        return frozenset({"score"})

    def averaged(self) -> tuple[str, ...]:
        return ("score",)
