"""`labeler_via_model`: a model labels the row; no label is right or wrong."""

from typing import Any, Literal, Self

from pydantic import model_validator

from tasks_lib.scorers.judging.base import JudgeScorer
from tasks_lib.scorers.judging.kinds import Labels, labels
from tasks_lib.scorers.judging.labels import Label, check_labels_differ
from tasks_lib.scorers.judging.verdicts import Verdict
from tasks_lib.templates import TemplateSource


class LabelerViaModel(JudgeScorer):
    """Asks a model for a label of an answer or of a sample; it has no metrics of its own."""

    type: Literal["labeler_via_model"] = "labeler_via_model"
    system_prompt: TemplateSource = (
        "You are a helpful assistant and will be used to label the output of another model "
        "or a dataset sample."
    )
    """Template of the system message; unless outputs are structured, the form of the answer is
    described after it."""
    valid_labels: tuple[Label, ...] = ()
    """The labels to choose from; any label where it is left out."""

    @model_validator(mode="after")
    def _labels_differ(self) -> Self:
        check_labels_differ(self.valid_labels)
        return self

    @property
    def wanted(self) -> Labels:
        return labels("label", self.valid_labels)

    def scored(self, verdict: Verdict) -> tuple[dict[str, Any], dict[str, Any]]:
        said = {"reasoning": verdict.reasoning, "confidence": verdict.confidence}
        metadata = {name: value for name, value in said.items() if value is not None}
        return {"label": verdict.answer}, metadata
