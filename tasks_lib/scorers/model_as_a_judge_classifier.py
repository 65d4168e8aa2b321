"""`model_as_a_judge_classifier`: a model says which label fits; some labels are right."""

from typing import Any, Literal, Self

from pydantic import model_validator

from tasks_lib.scorers.judging.base import JudgeScorer
from tasks_lib.scorers.judging.kinds import Labels, labels
from tasks_lib.scorers.judging.labels import Label, check_labels_differ
from tasks_lib.scorers.judging.verdicts import Verdict


class ModelAsAJudgeClassifier(JudgeScorer):
    """Asks a model for one of the labels; `is_correct` says whether it is a correct one."""

    type: Literal["model_as_a_judge_classifier"] = "model_as_a_judge_classifier"
    correct_labels: tuple[Label, ...]
    """Labels that mean the answer is right."""
    incorrect_labels: tuple[Label, ...]
    """Labels that mean it is wrong."""

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        if not self.correct_labels and not self.incorrect_labels:
            raise ValueError("there are no labels; add some to 'correct_labels'")
        check_labels_differ((*self.correct_labels, *self.incorrect_labels))
        return self

    @property
    def wanted(self) -> Labels:
        return labels("prediction", (*self.correct_labels, *self.incorrect_labels))

    def scored(self, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"is_correct": verdict.answer in self.correct_labels}, {
            "prediction": verdict.answer,
            "reasoning": verdict.reasoning,
            "confidence": verdict.confidence,
        }

    def averaged(self) -> tuple[str, ...]:
        return ("is_correct",)
