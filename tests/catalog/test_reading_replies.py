"""How classification reads labels, and conversation_memory reads what was recalled."""

from typing import Any

import pytest

from tests.catalog.snippets import Said, snippet

LABELS = {"refund": "…", "refund request": "…", "other": "…"}
LABEL = snippet("classification/read_label.py", labels=LABELS, label_column="label")
RECALLED = snippet("conversation_memory/recalled.py", answer_column="answer")


@pytest.mark.parametrize(
    ("reply", "label"),
    [
        ("refund", "refund"),
        ("**Refund**.", "refund"),
        ("Label: refund request", "refund request"),
        ("other", "other"),
        ("another", None),
        ("refund or other", None),
        ("refunds", None),
        ("", None),
    ],
)
def test_a_label_is_read_where_it_stands_alone(reply: str, label: str | None):
    assert LABEL.given_label(reply) == label
    assert LABEL.compute_scores({"label": "other"}, Said(reply)) == {
        "label": "other",
        "predicted": label or "(unreadable)",
        "is_correct": label == "other",
        "is_unreadable": label is None,
    }


def test_a_label_of_the_dataset_that_is_not_offered_is_an_error():
    with pytest.raises(ValueError, match="the dataset has the label 'spam'"):
        LABEL.compute_scores({"label": "spam"}, Said("other"))


@pytest.mark.parametrize(
    ("reply", "answer", "is_recalled", "denies"),
    [
        ("Your dog is called Biscuit.", "biscuit", True, False),
        ("It's Biscuit, if I recall; I don't have a record.", "Biscuit", True, False),
        ("Biscuits!", "Biscuit", False, False),
        ("At 4:42 p.m.", ["16:42", "4:42"], True, False),
        ("At 14:42.", ["16:42", "4:42"], False, False),
        ("318", 318, True, False),
        ("I don\u2019t know.", "Biscuit", False, True),
        ("You haven't told me that.", "Biscuit", False, True),
        ("I do not have access to that.", "Biscuit", False, True),
        ("I have no record of your dog.", "Biscuit", False, True),
        ("Rex", "Biscuit", False, False),
        ("", "Biscuit", False, False),
    ],
)
def test_a_fact_is_recalled_denied_or_made_up(
    reply: str, answer: Any, is_recalled: bool, denies: bool
):
    assert RECALLED.compute_scores({"answer": answer}, Said(reply)) == {
        "is_recalled": is_recalled,
        "denies": denies,
    }
