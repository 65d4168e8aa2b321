"""What the scorers share that compare a text with the expected one."""

from abc import abstractmethod
from typing import Any

from tasks_lib.scorers.answers import answer_text
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.scorers.templated import rendered
from tasks_lib.templates import TemplateSource


class TextComparison(SampleScorer):
    """Compares a text with the expected one; both are kept as they were compared."""

    ground_truth: TemplateSource
    """The expected text; sees `sample` and `solver_output`."""
    value: TemplateSource | None = None
    """The text to compare; the model's last answer where it is left out."""

    @abstractmethod
    def compared(self, expected: str, predicted: str) -> dict[str, Any]:
        """Return the scores of `predicted` against `expected`."""

    def judge(self, row: Row) -> Score:
        if self.value is None:
            advice = "give the scorer a 'value', such as \"{{ sample.answer }}\""
            predicted = answer_text(row.solver_output, fix=advice)
        else:
            predicted = rendered(self.value, "value", row)
        expected = rendered(self.ground_truth, "ground_truth", row)
        return Score(
            values=self.compared(expected, predicted),
            metadata={"answer_gt": expected, "answer_pred": predicted},
        )
