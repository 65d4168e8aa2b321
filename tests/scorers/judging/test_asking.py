import asyncio

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.scorers.judging.asking import MOST_ASKS, JudgeCalls
from tasks_lib.scorers.judging.kinds import Labels
from tests.scorers.judges import Judge
from tests.scorers.rows import chat, items

LABELS = Labels("prediction", ("correct", "incorrect"))
MESSAGES = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
INPUT = {"messages": MESSAGES}
REFUSAL = chat(None, refusal="I can't judge that.")


def ask(judge, chat_input=INPUT):
    calls = JudgeCalls(judge, "judge")
    return asyncio.run(calls.verdict(chat_input, LABELS)).answer, calls.made


def test_a_readable_reply_is_asked_for_once_and_kept():
    judge = Judge("correct")
    answer, made = ask(judge)
    assert answer == "correct"
    assert (judge.asked, judge.models) == ([INPUT], ["judge"])
    assert made == [{"input": MESSAGES, "output": "correct"}]


@pytest.mark.parametrize(
    ("unreadable", "output"),
    [
        ("Not correct.", "Not correct."),
        ("", ""),
        ('{"prediction": "maybe"}', '{"prediction": "maybe"}'),
        (REFUSAL, "I can't judge that."),
        (ModelOutput(chat("It may be: correct"), "length"), "It may be: correct"),
        ({"verdict": 1}, '{"verdict":1}'),
    ],
    ids=["unreadable", "empty", "unknown label", "refusal", "cut off", "no chat"],
)
def test_an_unreadable_reply_is_asked_for_again_with_the_same_words(unreadable, output):
    judge = Judge(unreadable, "incorrect")
    answer, made = ask(judge)
    assert answer == "incorrect"
    assert judge.asked == [INPUT, INPUT]
    assert [call["output"] for call in made] == [output, "incorrect"]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("Hm.", "no verdict stands alone in it; the last is 'Hm.'"),
        ("", "it is empty; the last is ''"),
        (REFUSAL, 'the judge refuses; the last is "I can\'t judge that."'),
        ('{"prediction": "m"}', "its 'prediction' is 'm', which is none of the labels"),
        ("correct\nincorrect", "it says several things: 'correct', 'incorrect'"),
    ],
    ids=["unreadable", "empty", "refusal", "unknown label", "two verdicts"],
)
def test_after_three_unreadable_replies_the_row_is_an_error_of_the_judge(reply, problem):
    judge = Judge(reply)
    with pytest.raises(SampleError) as caught:
        ask(judge)
    assert len(judge.asked) == MOST_ASKS == 3
    assert caught.value.error_class == "judge"
    assert caught.value.problem.startswith(f"no verdict in 3 replies of judge 'judge': {problem}")
    assert caught.value.metadata is not None
    assert len(caught.value.metadata["judge_calls"]) == 3


def test_a_judge_that_is_cut_off_is_given_more_tokens_by_the_author():
    with pytest.raises(SampleError, match="max_tokens"):
        ask(Judge(ModelOutput(chat("It seems"), "length")))


def test_a_call_that_fails_is_no_verdict_and_not_asked_again_here():
    failure = SampleError("infra", "HTTP 500 (after 5 attempts)")
    judge = Judge(failure)
    with pytest.raises(SampleError) as caught:
        ask(judge)
    assert caught.value is failure
    assert len(judge.asked) == 1


def test_open_responses_of_a_judge_are_read():
    part = {"type": "output_text", "text": "incorrect", "annotations": []}
    assert ask(Judge(items(part)))[0] == "incorrect"


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        (
            "HTTP 400: 'response_format' of type 'json_schema' is not supported",
            "judge 'judge' refuses structured outputs: HTTP 400: 'response_format' of type "
            "'json_schema' is not supported; set 'use_structured_outputs: false'",
        ),
        (
            "HTTP 422: unexpected field",
            "HTTP 422: unexpected field; if the judge has no structured outputs, set "
            "'use_structured_outputs: false'",
        ),
    ],
    ids=["said so", "not said why"],
)
def test_a_judge_without_structured_outputs_is_said_to_be_one(problem, said):
    refusing = Judge(SampleError("model", problem))
    with pytest.raises(SampleError) as caught:
        ask(refusing, {**INPUT, "response_format": {"type": "json_schema"}})
    assert caught.value.error_class == "model"
    assert str(caught.value).startswith(said)
    with pytest.raises(SampleError) as caught:
        ask(refusing)
    assert str(caught.value) == problem, "it was not asked for structure"
