import json

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.labeler_via_model import LabelerViaModel
from tests.scorers.judges import Judge, outcomes, scored
from tests.scorers.rows import row


def labeler(*valid: str, **fields) -> LabelerViaModel:
    prompt = "Topic of {{ sample.target }}?"
    return LabelerViaModel(model_key="judge", user_prompt=prompt, valid_labels=valid, **fields)


def test_a_sample_gets_a_label_in_the_authors_spelling():
    judge = Judge(json.dumps({"label": "city", "reasoning": "It is one."}))
    score = scored(labeler("City", "River"), row(), judge)
    assert score.values == {"label": "City"}
    assert score.metadata["reasoning"] == "It is one."
    assert "confidence" not in score.metadata, "it gave none"
    assert judge.prompts[0][0].startswith(
        "You are a helpful assistant and will be used to label the output of another model "
        "or a dataset sample."
    )
    assert judge.prompts[0][1] == "Topic of Paris?"


def test_only_valid_labels_count():
    (error,) = outcomes(labeler("City", "River"), row(), ['{"label": "Lake"}'])
    assert isinstance(error, SampleError)
    assert error.error_class == "judge"
    assert "'Lake', which is none of the labels" in error.problem


def test_without_valid_labels_any_label_counts():
    assert scored(labeler(), row(), Judge('{"label": "Lake"}')).values == {"label": "Lake"}
    assert scored(labeler(), row(), Judge("Lake")).values == {"label": "Lake"}


@pytest.mark.parametrize(
    ("valid", "complaint"),
    [(("a", "a "), "given twice"), (("",), "can't be empty")],
    ids=["twice", "empty"],
)
def test_labels_that_are_none_are_refused(valid, complaint):
    with pytest.raises(ValidationError, match=complaint):
        labeler(*valid)
