import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.score import Score
from tasks_lib.scorers.string_equals_mcqa import StringEqualsMCQA
from tests.scorers.rows import chat, row, solved

LETTERS = ["A", "B", "C", "D"]
SCORER = StringEqualsMCQA(ground_truth_choice="{{ sample.target }}", choices="{{ sample.choices }}")


def scored(reply: str, target: str = "B", choices=LETTERS, scorer=SCORER) -> Score:
    return scorer.score(row(solved(chat(reply)), target=target, choices=choices))


@pytest.mark.parametrize(
    ("reply", "predicted", "validity"),
    [
        ("B", "B", "valid"),
        ("B.", "B", "valid"),
        ("B)", "B", "valid"),
        ("B: Paris", "B", "valid"),
        ("BC", "B", "valid"),
        ("Bob", "B", "valid"),
        ("B and C", "B", "valid"),
        ("b", "b", "invalid"),
        (" B ", " ", "invalid"),
        ("(B)", "(", "invalid"),
        ("**B**", "*", "invalid"),
        ("The answer is B", "T", "invalid"),
        ("Answer: B", "A", "valid"),
        ("", "", "invalid"),
    ],
)
def test_the_first_character_is_the_answer(reply, predicted, validity):
    score = scored(reply)
    assert score.values == {"is_correct": predicted == "B"}
    metadata = {key: value for key, value in score.metadata.items() if key != "no_answer"}
    assert metadata == {
        "ground_truth_choices": LETTERS,
        "ground_truth_correct_choice": "B",
        "predicted_choice": predicted,
        "completion_validity": validity,
    }


@pytest.mark.parametrize(
    ("target", "right"),
    [("BC", False), ("B ", False), ("E", False), ("b", False)],
    ids=["more than a character", "not trimmed", "not among the choices", "another case"],
)
def test_the_right_choice_is_taken_as_it_is(target, right):
    assert scored("BC", target).values == {"is_correct": right}


def test_a_right_choice_need_not_be_among_the_choices():
    score = scored("E", "E")
    assert score.values == {"is_correct": True}
    assert score.metadata["completion_validity"] == "invalid"


def test_without_choices_every_completion_is_invalid_and_may_be_correct():
    score = scored("B", choices=[])
    assert score.values == {"is_correct": True}
    assert score.metadata["completion_validity"] == "invalid"


@pytest.mark.parametrize(
    ("template", "column"),
    [
        ("{{ sample.choices }}", LETTERS),
        ("{{ sample.choices | tojson }}", LETTERS),
        ("  {{ sample.choices }}  \n", LETTERS),
        ("{{ sample.choices }}", '["A", "B", "C", "D"]'),
        ("{{ sample.choices }}", " ['A', 'B', 'C', 'D'] "),
        ("{{ sample.choices }}", "('A', 'B', 'C', 'D')"),
        ('["A", "B", "C", "D"]', None),
        ("{{ sample.choices.keys() | list }}", dict.fromkeys(LETTERS)),
    ],
    ids=[
        "a list column",
        "as JSON",
        "spaces around it",
        "a column of JSON text",
        "a column of Python text",
        "a tuple becomes a list",
        "written out",
        "made of keys",
    ],
)
def test_choices_are_a_list_however_they_are_written(template, column):
    scorer = StringEqualsMCQA(ground_truth_choice="B", choices=template)
    score = scored("B", choices=column, scorer=scorer)
    assert score.metadata["ground_truth_choices"] == LETTERS
    assert score.metadata["completion_validity"] == "valid"


@pytest.mark.parametrize(
    "choices",
    ["A,B,C", "ABC", {"A": "Paris"}, '{"A": "Paris"}', ["A", 2], "[1, 2]", None, 5, "'AB'"],
)
def test_choices_that_are_no_list_of_texts_are_an_error_of_the_row(choices):
    with pytest.raises(SampleError, match="which is no list of texts") as caught:
        scored("B", choices=choices)
    assert caught.value.error_class == "data"


def test_a_refusal_is_empty_and_marked():
    score = SCORER.score(row(solved(chat(None, refusal="No.")), target="B", choices=LETTERS))
    assert score.values == {"is_correct": False}
    assert (score.metadata["predicted_choice"], score.metadata["no_answer"]) == ("", "refusal")


def test_without_a_solver_the_row_is_an_error_that_says_what_to_do():
    with pytest.raises(SampleError, match="without a solver; use the scorer 'string_equals'"):
        SCORER.score(row(target="B", choices=LETTERS))


def test_a_list_in_yaml_is_refused():
    with pytest.raises(ValidationError, match="choices"):
        TypeAdapter(StringEqualsMCQA).validate_python(
            {"ground_truth_choice": "B", "choices": LETTERS}
        )
