import unicodedata
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.scorers.string_equals import StringEquals
from tests.scorers.rows import chat, row, solved

SCORER = StringEquals(ground_truth="{{ sample.target }}")
COMPOSED = unicodedata.normalize("NFC", "É")
DECOMPOSED = unicodedata.normalize("NFD", "É")


@pytest.mark.parametrize(
    ("target", "reply", "equal"),
    [
        ("Paris", "Paris", True),
        ("Paris", "paris", False),
        ("Paris", " Paris ", False),
        ("Paris", "Paris.", False),
        ("Paris", "Paris\n", False),
        (COMPOSED, DECOMPOSED, False),
        ("", "", True),
        (5, "5", True),
        (5.0, "5.0", True),
        (True, "True", True),
        (None, "None", True),
        (["a", 1], "['a', 1]", True),
        ("{{ 7 }}", "{{ 7 }}", True),
    ],
)
def test_equality_is_exact_and_values_compare_as_rendered(target, reply, equal):
    score = SCORER.score(row(solved(chat(reply)), target=target))
    assert score.values == {"is_correct": equal}
    assert score.metadata["answer_pred"] == reply
    assert score.metadata["answer_gt"] == str(target)


def test_the_last_newline_of_a_block_template_does_not_count():
    scorer = StringEquals(ground_truth="{{ sample.target }}\n")
    assert scorer.score(row(solved(chat("Paris")))).values == {"is_correct": True}


def test_templates_see_the_solver_output_and_nothing_else():
    scorer = StringEquals(
        ground_truth="{{ sample.target }}",
        value="{{ solver_output.trace.get_last_assistant_text() | trim }}",
    )
    assert scorer.score(row(solved(chat("x"), said=" Paris "))).values == {"is_correct": True}
    with pytest.raises(SampleError, match="undefined"):
        StringEquals(ground_truth="{{ trace }}").score(row(solved(chat("x"))))


def test_a_column_the_sample_lacks_is_an_error_naming_the_template():
    with pytest.raises(SampleError, match="ground_truth") as caught:
        StringEquals(ground_truth="{{ sample.answer }}").score(row(solved(chat("Paris"))))
    assert caught.value.error_class == "template"


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (chat(""), "empty"),
        (chat(None, refusal="I can't help with that."), "refusal"),
        (chat("Lyon"), None),
        (chat("  \n"), "empty"),
    ],
    ids=["s1 empty", "s2 refusal", "s3 wrong", "s4 white space"],
)
def test_br_031_empty_refused_and_wrong_can_be_told_apart(reply, reason):
    score = SCORER.score(row(solved(reply)))
    assert score.values == {"is_correct": False}
    assert score.metadata.get("no_answer") == reason


def test_bad_template_syntax_is_refused_when_loaded():
    with pytest.raises(ValidationError, match="ground_truth"):
        StringEquals(ground_truth="{{ sample.target")


@given(st.text())
def test_any_text_equals_itself_however_it_looks(text):
    score = SCORER.score(row(solved(chat(text)), target=text))
    assert score.values == {"is_correct": True}


def test_a_row_costs_under_25_microseconds():
    rows = [row(solved(chat("Paris"), said="Paris")) for _ in range(2000)]
    took = []
    for _ in range(5):
        start = thread_time()
        for one in rows:
            SCORER.score(one)
        took.append(thread_time() - start)
    assert min(took) / len(rows) < 25e-6
