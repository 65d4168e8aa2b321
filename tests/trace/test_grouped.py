"""Several conversations about one sample: as one trace, and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.trace import SolverTrace, Trace, message_item
from tasks_lib.trace.grouped import (
    GroupedSolverOutput,
    GroupedSolverTrace,
    is_grouped,
    joined,
    regrouped,
)
from tasks_lib.trace.legacy import SingleSolverOutput, to_legacy

OUTPUTS = st.builds(
    lambda texts, n: SolverTrace(
        Trace.from_items([message_item("user", text) for text in texts]),
        [{"choices": [], "n": i} for i in range(n)],
    ),
    st.lists(st.text(max_size=3), max_size=3),
    st.integers(0, 2),
)


def solved(text="?"):
    return SolverTrace(Trace.from_items([message_item("user", text)]), [{"n": 1}])


@pytest.mark.parametrize("named", [False, True])
def test_groups_hold_outputs_in_order_or_by_name(named):
    trace, legacy = solved(), to_legacy(solved())
    traces = GroupedSolverTrace(solver_outputs={"a": trace} if named else [trace])
    outputs = GroupedSolverOutput(solver_outputs={"a": legacy} if named else [legacy])
    key = "a" if named else 0
    assert isinstance(traces.solver_outputs[key], SolverTrace)
    assert isinstance(outputs.solver_outputs[key], SingleSolverOutput)
    dumped = traces.model_dump_include_unset()
    assert GroupedSolverTrace.model_validate(dumped).solver_outputs[key].messages == trace.messages


@given(
    st.lists(OUTPUTS, min_size=1, max_size=3)
    | st.dictionaries(st.text(max_size=2), OUTPUTS, min_size=1, max_size=3)
)
def test_what_was_joined_and_stored_comes_back(outputs):
    whole = joined(outputs)
    stored = SolverTrace(Trace.from_json(whole.trace.to_json()), whole.raw_outputs_json)
    assert is_grouped(stored)
    assert regrouped(stored) == GroupedSolverTrace(solver_outputs=outputs)


def test_all_that_was_said_is_one_trace_for_what_knows_no_groups():
    whole = joined({"a": solved("1"), "b": solved("2")})
    assert [message.text for message in whole.trace.user_messages] == ["1", "2"]
    assert len(whole.raw_outputs) == 2


@pytest.mark.parametrize("metadata", [None, {"agent": "x"}, {"extra": {"lengths": [[1, 1]]}}])
def test_any_other_trace_is_no_group(metadata):
    output = SolverTrace(Trace.from_items([], metadata=metadata))
    assert not is_grouped(output)
    assert regrouped(output) is output
