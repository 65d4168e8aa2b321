"""`string_equals_mcqa`: the answer to a multiple-choice question is its first character."""

from typing import Literal

from tasks_lib.errors import SampleError, bounded
from tasks_lib.scorers.answers import answer_text
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.score import Row, Score
from tasks_lib.scorers.templated import evaluated, rendered
from tasks_lib.templates import TemplateSource


class StringEqualsMCQA(SampleScorer):
    """Compares the first character of the model's answer with the right choice.

    That character is all that is read, by the definition of this scorer: `B. Paris` chooses
    B, and so does `Bob`; ` B`, `(B)` and `**B**` choose none of A to D, `Answer: B` chooses A.
    Whether it is one of the choices is told beside the score and does not change it. To read
    letters out of prose, use the scorer `python`.
    """

    type: Literal["string_equals_mcqa"] = "string_equals_mcqa"
    ground_truth_choice: TemplateSource
    """The right choice, one character; sees `sample` and `solver_output`."""
    choices: TemplateSource
    """All choices, as a list of texts; sees `sample` and `solver_output`."""

    def judge(self, row: Row) -> Score:
        choices = self._choices(row)
        expected = rendered(self.ground_truth_choice, "ground_truth_choice", row)
        advice = "use the scorer 'string_equals', which takes a 'value'"
        predicted = answer_text(row.solver_output, fix=advice)[:1]
        return Score(
            values={"is_correct": predicted == expected},
            metadata={
                "ground_truth_choices": choices,
                "ground_truth_correct_choice": expected,
                "predicted_choice": predicted,
                "completion_validity": "valid" if predicted in choices else "invalid",
            },
        )

    def averaged(self) -> tuple[str, ...]:
        return ("is_correct",)

    def _choices(self, row: Row) -> list[str]:
        choices = evaluated(self.choices, "choices", row)
        if isinstance(choices, list | tuple) and all(isinstance(text, str) for text in choices):
            return list(choices)
        raise SampleError(
            "data",
            f"'choices' gives {bounded(repr(choices), 80)}, which is no list of texts",
            fix='give a list such as ["A", "B"], or a column that holds one',
        )
