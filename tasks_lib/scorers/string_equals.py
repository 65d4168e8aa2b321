"""`string_equals`: the answer is the expected text, character for character."""

from typing import Literal

from tasks_lib.metrics import Metric
from tasks_lib.metrics.mean import Mean
from tasks_lib.scorers.answers import answer_text
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.templates import TemplateSource, compile_template


class StringEquals(SampleScorer):
    """Exact equality of two strings: no trimming, case folding or Unicode normalisation."""

    type: Literal["string_equals"] = "string_equals"
    ground_truth: TemplateSource
    """The expected text; sees `sample` and `solver_output`."""
    value: TemplateSource | None = None
    """The text to compare; the model's last answer where it is left out."""

    def judge(self, row: Row) -> Score:
        if self.value is None:
            predicted = answer_text(row.solver_output)
        else:
            predicted = _rendered(self.value, "value", row)
        expected = _rendered(self.ground_truth, "ground_truth", row)
        return Score(
            values={"is_correct": predicted == expected},
            metadata={"answer_gt": expected, "answer_pred": predicted},
        )

    def default_metrics(self) -> tuple[Metric, ...]:
        return (Mean(field="is_correct"),)


def _rendered(template: str, name: str, row: Row) -> str:
    return compile_template(template, name).render(
        sample=row.sample, solver_output=row.shown_output
    )
