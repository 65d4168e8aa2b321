"""How exact_match_qa compares a reply with the accepted answers."""

from typing import Any

import pytest

from tests.catalog.snippets import Said, snippet

ANSWERS = snippet("exact_match_qa/same_answer.py", answer_column="answer")


def scores(reply: str, answer: Any) -> dict[str, Any]:
    result: dict[str, Any] = ANSWERS.compute_scores({"answer": answer}, Said(reply))["scores"]
    return result


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("paris.", "Paris"),
        ("The Pacific Ocean", "Pacific Ocean"),
        ("1,000", "1000"),
        ("1,234,567", "1234567"),
        ("U.S.", "US"),
        ("twenty-one", "twenty one"),
        ("“Mercury”", "Mercury"),
        ("rock'n'roll", "rock\u2019n\u2019roll"),
        ("3.5", 3.5),
        ("-5", -5),
        ("C#", "C#"),
        ("six", ["6", "six"]),
        ("A", "A"),
        ("Cafe\u0301", "Caf\u00e9"),
        ("नमस्ते।", "नमस्ते"),
    ],
)
def test_writing_habits_do_not_matter(reply: str, answer: Any):
    assert scores(reply, answer) == {"is_correct": True, "token_f1": 1.0}


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("Pariss", "Paris"),
        ("Bogota", "Bogotá"),
        ("31.4", "3.14"),
        ("5", "-5"),
        ("1.000", "1000"),
        ("C", "C#"),
        ("C", "C++"),
        ("Paris, France", "Paris"),
        ("", "Paris"),
    ],
)
def test_other_answers_are_wrong(reply: str, answer: Any):
    assert not scores(reply, answer)["is_correct"]


def test_a_sentence_around_the_answer_is_told_by_f1():
    assert scores("It is Paris", "Paris") == {"is_correct": False, "token_f1": 0.5}
    assert scores("the big red dog", ["a cat", "big dog"])["token_f1"] == pytest.approx(0.8)


def test_a_conversation_without_a_reply_is_no_answer():
    assert ANSWERS.compute_scores({"answer": "x"}, Said(None))["scores"]["is_correct"] is False
