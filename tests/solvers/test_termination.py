"""Conditions outside loops: the message is kept or dropped, the rest does not run."""

import pytest

from tasks_lib.trace import message_item
from tests.items import call
from tests.solvers.scripted import (
    DONE,
    GENERATE,
    Models,
    chat,
    conversation,
    items_output,
    multi_turn,
    said,
    solve,
)


@pytest.mark.parametrize("keep", [True, False])
def test_outside_a_loop_the_sequence_stops(keep):
    ending = said("user", "so <done>", terminate_if={**DONE, "keep_iteration": keep})
    output = solve(multi_turn(said("user", "a"), ending, GENERATE))
    assert [text for _, text in conversation(output)] == (["a", "so <done>"] if keep else ["a"])


def test_dropped_messages_leave_their_raw_outputs():
    dropping = {**GENERATE, "terminate_if": {**DONE, "keep_iteration": False}}
    output = solve(multi_turn(said("user", "a"), dropping), Models(tested=["<done>"]))
    assert conversation(output) == [("user", "a")]
    assert output.raw_outputs_json == [chat("<done>").raw]


@pytest.mark.parametrize(
    ("text", "includes", "ends"),
    [
        pytest.param("all <done>.", "<done>", True, id="a substring"),
        pytest.param("all <Done>.", "<done>", False, id="case counts"),
        pytest.param("aaa", "a+", False, id="no expression"),
        pytest.param("anything", "", True, id="empty text always"),
        pytest.param("", "", True, id="empty text, empty message"),
    ],
)
def test_when_a_condition_holds(text, includes, ends):
    asking = {**GENERATE, "terminate_if": {"includes": includes}}
    output = solve(multi_turn(asking, said("user", "after")), Models(tested=[text]))
    assert len(conversation(output)) == (1 if ends else 2)


def test_messages_are_kept_unless_it_says_otherwise():
    ending = said("user", "<done>", terminate_if=DONE)
    assert conversation(solve(multi_turn(ending))) == [("user", "<done>")]


@pytest.mark.parametrize(
    ("items", "ends"),
    [
        pytest.param(
            [message_item("assistant", "<do"), message_item("assistant", "ne>")], False,
            id="lines of two messages",
        ),
        pytest.param(
            [message_item("assistant", "a"), message_item("assistant", "<done>")], True,
            id="one of two messages",
        ),
        pytest.param(
            [
                {
                    **message_item("assistant", ""),
                    "content": [{"type": "reasoning_text", "text": "say <done>?"}],
                },
                message_item("assistant", "no"),
            ],
            False,
            id="a thought is not said",
        ),
        pytest.param([call("<done>")], False, id="a call is not said"),
    ],
)  # fmt: skip
def test_of_several_items_the_assistants_words_count(items, ends):
    asking = {**GENERATE, "terminate_if": DONE}
    models = Models(tested=[items_output(*items)])
    output = solve(multi_turn(asking, said("user", "after")), models)
    assert (("user", "after") not in conversation(output)) == ends
