"""The older form of a solver's output, there and back."""

from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.trace import SolverTrace, Trace, message_item
from tasks_lib.trace.legacy import SingleSolverOutput, from_legacy, to_legacy

conversations = st.lists(
    st.builds(message_item, st.sampled_from(["system", "user", "assistant"]), st.text(max_size=5)),
    max_size=5,
)
outputs = st.lists(
    st.text(max_size=5).map(
        lambda text: {"choices": [{"message": {"role": "assistant", "content": text}}]}
    ),
    max_size=2,
)


@given(conversations, outputs)
def test_what_the_older_form_holds_comes_back(items, raw_outputs):
    shown = to_legacy(SolverTrace(Trace(items=items), raw_outputs=raw_outputs))
    assert to_legacy(from_legacy(shown)).model_dump() == shown.model_dump()


def test_models_that_do_not_chat_keep_their_messages():
    items = [
        {"type": "custom_task_input_message", "content": {"x": 1}},
        {"type": "custom_task_output_message", "content": [2]},
    ]
    shown = to_legacy(SolverTrace(Trace(items=items), raw_outputs=[[2]]))
    assert from_legacy(shown).trace.raw_items == items


def test_an_output_without_a_reply_has_no_raw_output():
    assert from_legacy(SingleSolverOutput(messages=[], output=None)).raw_outputs_json == []
