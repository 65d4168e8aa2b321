"""What the scorers do alike that compare a text with the expected one."""

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers.bleu import Bleu
from tasks_lib.scorers.string_equals import StringEquals
from tests.scorers.rows import row

CAT = "The cat sat on the mat."


@pytest.mark.parametrize(
    ("kind", "values"), [(StringEquals, {"is_correct": True}), (Bleu, {"bleu_score": 1.0})]
)
def test_a_value_replaces_the_models_answer_and_what_was_compared_is_kept(kind, values):
    scorer = kind(ground_truth="{{ sample.target }}", value="{{ sample.guess }}")
    score = scorer.score(row(guess=CAT, target=CAT))
    assert score.values == values
    assert score.metadata == {"answer_gt": CAT, "answer_pred": CAT}


@pytest.mark.parametrize("kind", [StringEquals, Bleu])
def test_without_solver_and_value_the_row_is_an_error_that_says_what_to_do(kind):
    with pytest.raises(SampleError) as caught:
        kind(ground_truth="{{ sample.target }}").score(row())
    assert caught.value.error_class == "data"
    assert "'value'" in caught.value.fix
