import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers.answers import answer_text
from tasks_lib.trace.grouped import joined
from tests.scorers.rows import chat, items, solved

TEXT = {"type": "output_text", "text": "Paris", "annotations": []}


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (solved(chat("Paris"), said="Lyon"), "Paris"),
        (solved(chat("Lyon"), chat("Paris")), "Paris"),
        (solved(items(TEXT)), "Paris"),
        (solved(said="Paris"), "Paris"),
        (solved(chat("")), ""),
        (solved(chat(None, refusal="I can't help with that.")), ""),
    ],
    ids=[
        "the raw output counts, not the trace",
        "of several raw outputs the last",
        "Open Responses: the last assistant message",
        "without raw outputs the last assistant text",
        "an empty answer is an answer to compare",
        "a refusal is empty text",
    ],
)
def test_answer_text(output, text):
    assert answer_text(output) == text


@pytest.mark.parametrize(
    ("output", "problem"),
    [
        (None, "there is no model output to score in a task without a solver"),
        (solved(), "the solver's output holds no assistant message"),
        (solved({"verdict": 1}), "the solver's output holds no assistant message"),
        (solved({"choices": []}), "the solver's output holds no assistant message"),
        (solved({"items": []}), "the solver's output holds no assistant message"),
        (joined([solved(said="x")]), "the solver's output is several conversations, not one"),
    ],
    ids=["no solver", "nothing said", "custom output", "no choices", "no items", "grouped"],
)
def test_output_without_text_is_an_error_of_the_sample(output, problem):
    with pytest.raises(SampleError) as caught:
        answer_text(output)
    assert (caught.value.error_class, caught.value.problem) == ("data", problem)
