import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.scorers.bleu import Bleu
from tests.scorers.rows import chat, row, solved

SCORER = Bleu(ground_truth="{{ sample.target }}")
CAT = "the cat sat on the mat"


def bleu(predicted: str, expected: str) -> float:
    return SCORER.score(row(solved(chat(predicted)), target=expected)).values["bleu_score"]


@pytest.mark.parametrize(
    ("predicted", "expected", "score"),
    [
        (CAT, CAT, 1.0),
        ("dogs bark", CAT, 0.0),
        # 7 of 8, 5 of 7, 4 of 6 and 3 of 5 sequences of 1, 2, 3 and 4 tokens, no penalty
        ("the cat sat on the mat right now", f"{CAT} now", (7 / 8 * 5 / 7 * 4 / 6 * 3 / 5) ** 0.25),
        # all sequences match; 4 tokens for 6: exp(1 - 6 / 4)
        ("the cat sat on", CAT, 0.6065306597126334),
        # a repeated token counts as often as the reference has it: 2/7, 0 of the longer ones
        ("the the the the the the the", CAT, 0.0),
        ("The cat sat on the mat", CAT, (5 / 6 * 4 / 5 * 3 / 4 * 2 / 3) ** 0.25),
        ("It costs 3.5, really.", "It costs 3.5 , really .", 1.0),
        ("say &quot;yes&quot; to me", 'say "yes" to me', 1.0),
        ("the cat\nsat on", "the cat sat on", 1.0),
    ],
    ids=[
        "the same text",
        "nothing in common",
        "some sequences in common",
        "a short answer is penalised",
        "repetition does not help",
        "case counts",
        "punctuation is cut off words as mteval-13a does, and not off numbers",
        "entities are read",
        "a line break is a space",
    ],
)
def test_score(predicted, expected, score):
    assert bleu(predicted, expected) == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize(
    ("predicted", "expected"),
    [("Paris", "Paris"), ("a b c", "a b c"), ("", CAT), ("  \n", CAT), (CAT, ""), ("", "")],
    ids=[
        "one word",
        "three words",
        "an empty answer",
        "white space",
        "an empty reference",
        "nothing at all",
    ],
)
def test_fewer_than_four_tokens_score_0_even_when_they_are_equal(predicted, expected):
    assert bleu(predicted, expected) == 0.0


def test_texts_are_not_kept_in_memory():
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

    bleu(CAT, CAT)
    assert Tokenizer13a.__call__.cache_info().currsize == 0


@given(st.text(), st.text())
def test_it_lies_between_0_and_1_whatever_the_texts(predicted, expected):
    assert 0.0 <= bleu(predicted, expected) <= 1.0
