import json

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.model_as_a_judge_classifier import ModelAsAJudgeClassifier
from tests.scorers.judges import Judge, outcomes, scored
from tests.scorers.rows import chat, row, solved


def classifier(**fields) -> ModelAsAJudgeClassifier:
    return ModelAsAJudgeClassifier(
        **{
            "model_key": "judge",
            "user_prompt": "{{ trace.get_last_assistant_text() }}",
            "correct_labels": ["correct"],
            "incorrect_labels": ["incorrect"],
            **fields,
        }
    )


ANSWERED = row(solved(chat("Paris"), said="Paris"))


def test_the_judges_label_says_whether_the_answer_is_right():
    reply = {"reasoning": "It is.", "prediction": "Correct", "confidence": 0.9}
    judge = Judge(json.dumps(reply))
    score = scored(classifier(), ANSWERED, judge)
    assert score.values == {"is_correct": True}
    assert score.metadata == {
        "prediction": "correct",
        "reasoning": "It is.",
        "confidence": 0.9,
        "judge_calls": [{"input": judge.asked[0]["messages"], "output": json.dumps(reply)}],
    }
    assert judge.prompts[0][1] == "Paris"
    assert judge.prompts[0][0].startswith(
        "You are a helpful assistant and will be used to judge the output of another model."
    )


def test_br_035_unreadable_replies_are_errors_and_the_mean_leaves_them_out():
    replies = ["INCORRECT", "CORRECT", "The response is incorrect.", "Not correct.", "correct"]
    scorer = classifier(correct_labels=["CORRECT"], incorrect_labels=["INCORRECT"])
    found = outcomes(scorer, ANSWERED, replies)
    errors = [outcome for outcome in found if isinstance(outcome, SampleError)]
    right = [o.values["is_correct"] for o in found if not isinstance(o, SampleError)]
    assert [error.error_class for error in errors] == ["judge"]
    assert right == [False, True, False, True]


def test_structured_outputs_are_asked_for():
    judge = Judge('{"reasoning": "", "prediction": "incorrect", "confidence": 1}')
    score = scored(classifier(use_structured_outputs=True), ANSWERED, judge)
    assert score.values == {"is_correct": False}
    assert "response_format" in judge.asked[0]


def test_an_answer_that_is_none_is_judged_and_marked():
    score = scored(classifier(), row(solved(chat(""), said="")), Judge("incorrect"))
    assert score.values == {"is_correct": False}
    assert score.metadata["no_answer"] == "empty"


def test_a_dataset_can_be_judged():
    scorer = classifier(user_prompt="Is {{ sample.target }} a city?")
    judge = Judge("correct")
    assert scored(scorer, row(), judge).values == {"is_correct": True}
    assert judge.prompts[0][1] == "Is Paris a city?"


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"correct_labels": [], "incorrect_labels": []}, "there are no labels"),
        ({"incorrect_labels": ["correct"]}, "the label 'correct' is given twice"),
        ({"incorrect_labels": [" correct"]}, "the label 'correct' is given twice"),
        ({"correct_labels": [" "]}, "a label can't be empty"),
        ({"correct_labels": "correct"}, "tuple"),
        ({"model_key": "no such/provider"}, "provider"),
        ({"user_prompt": "{{ sample. }}"}, "template line 1"),
    ],
    ids=["no labels", "overlap", "overlap, trimmed", "empty", "no list", "model", "template"],
)
def test_a_wrong_definition_is_refused(fields, complaint):
    with pytest.raises(ValidationError, match=complaint):
        classifier(**fields)


def test_one_side_may_have_no_labels_and_case_may_tell_labels_apart():
    assert classifier(incorrect_labels=[]).wanted.allowed == ("correct",)
    assert classifier(incorrect_labels=["Correct"]).wanted.allowed == ("correct", "Correct")
