"""Messages that another model says, and a simulated user who says nothing."""

import pytest

from tasks_lib.errors import SampleError
from tests.items import call
from tests.solvers.scripted import (
    DONE,
    GENERATE,
    Models,
    chat,
    conversation,
    helper,
    items_output,
    loop,
    multi_turn,
    said,
    solve,
)


def test_the_conversation_then_the_instructions_are_sent_and_one_message_appended():
    models = Models(tested=["Sure?"], user=["Yes"])
    output = solve(
        multi_turn(
            said("user", "Q"), GENERATE, helper("Answer {{ sample.x }}.", output_role="user")
        ),
        models,
        x="it",
    )
    assert conversation(output)[-1] == ("user", "Yes")
    assert models.texts("user") == [["Q", "Sure?", "Answer it."]]
    assert len(output.trace.raw_items) == 3


def test_its_reply_is_no_output_of_the_evaluated_model():
    models = Models(tested=["Sure?"], user=["Yes"])
    output = solve(multi_turn(GENERATE, helper(output_role="user")), models)
    assert output.raw_outputs_json == [chat("Sure?").raw]
    assert [(key, auxiliary) for key, _, auxiliary in models.asked] == [
        ("tested", False), ("user", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("role", "recorded"),
    [(None, "assistant"), ("assistant", "assistant"), ("system", "system"), ("user", "user")],
)
def test_the_role_of_the_reply(role, recorded):
    output = solve(multi_turn(helper(output_role=role)), Models(user=["Hi"]))
    assert conversation(output) == [(recorded, "Hi")]


def test_without_the_conversation_only_the_instructions_are_sent():
    models = Models(user=["Hi"])
    solve(
        multi_turn(
            said("user", "Q"),
            helper("About {{ messages[0].content }}", include_conversation=False),
        ),
        models,
    )
    assert models.texts("user") == [["About Q"]]


def test_conditions_of_instructions_are_ignored():
    instruction = said("user", "Say <done>", terminate_if=DONE)
    builder = {**helper(), "extra_input_messages": [instruction]}
    output = solve(multi_turn(builder, said("user", "after")), Models(user=["Hi"]))
    assert [text for _, text in conversation(output)] == ["Hi", "after"]


def test_a_reply_of_plain_text_is_taken_as_it_is():
    plain = chat("")
    models = Models(user=[type(plain)("plain text")])
    assert conversation(solve(multi_turn(helper()), models)) == [("assistant", "plain text")]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        pytest.param(chat("", "length"), "finish reason 'length'", id="cut off"),
        pytest.param(chat(" ", "content_filter"), "'content_filter'", id="filtered"),
        pytest.param(
            items_output(call(), finish="tool_calls"), "no text to say", id="a tool call"
        ),
    ],
)  # fmt: skip
@pytest.mark.parametrize("role", ["user", None])
def test_trouble_of_a_helper_is_an_error_and_no_message(reply, problem, role):
    with pytest.raises(SampleError, match=problem) as error:
        solve(multi_turn(helper(output_role=role)), Models(user=[reply]))
    assert error.value.error_class == "model"


OPENING = said("user", "Hi")


@pytest.mark.parametrize("blank", ["", " \n"])
def test_a_silent_user_in_a_loop(blank):
    models = Models(tested=["Hello", "10 euro"], user=["thanks, and the price?", blank])
    output = solve(
        multi_turn(OPENING, loop(GENERATE, helper(output_role="user"), max_iterations=5)),
        models,
    )
    assert conversation(output) == [
        ("user", "Hi"), ("assistant", "Hello"),
        ("user", "thanks, and the price?"), ("assistant", "10 euro"),
    ]  # fmt: skip
    assert all("" not in texts for texts in models.texts("tested"))
    extra = output.trace.to_json()
    assert "said nothing as the user" in extra


def test_a_silent_user_outside_loops_it_ends_everything():
    models = Models(tested=["Hello"], user=[""])
    output = solve(multi_turn(OPENING, GENERATE, helper(output_role="user"), GENERATE), models)
    assert conversation(output) == [("user", "Hi"), ("assistant", "Hello")]


def test_a_silent_user_it_is_no_missed_condition():
    models = Models(tested=["Hello"], user=[""])
    ended = loop(GENERATE, helper(output_role="user", terminate_if=DONE), max_iterations=2)
    assert len(conversation(solve(multi_turn(OPENING, ended), models))) == 2


def test_a_silent_user_a_condition_that_holds_decides_what_stays():
    always = {"includes": "", "keep_iteration": False}
    models = Models(tested=["Hello"], user=[""])
    ended = loop(GENERATE, helper(output_role="user", terminate_if=always))
    assert conversation(solve(multi_turn(OPENING, ended), models)) == [("user", "Hi")]


def test_a_silent_user_others_may_be_silent():
    models = Models(user=[""], tested=["?"])
    assert conversation(solve(multi_turn(helper(), GENERATE), models)) == [
        ("assistant", ""), ("assistant", "?"),
    ]  # fmt: skip
