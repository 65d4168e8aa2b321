"""Loops: their iterations, how they end, and what is dropped then."""

import asyncio

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.solvers import conversation as conversation_module
from tasks_lib.solvers.base import SolverContext
from tests.solvers.scripted import (
    DONE,
    GENERATE,
    Models,
    conversation,
    helper,
    loop,
    multi_turn,
    said,
    solve,
    solver,
)


def test_it_stops_where_the_condition_holds_and_the_rest_of_the_iteration_does_not_run():
    models = Models(tested=["a", "b"], user=["1", "2 <done>"])
    output = solve(
        multi_turn(
            loop(helper(output_role="user", terminate_if=DONE), GENERATE),
            said("user", "after"),
        ),
        models,
    )
    assert [text for _, text in conversation(output)] == ["1", "a", "2 <done>", "after"]


def test_dropping_takes_the_whole_iteration():
    models = Models(tested=["a", "b <done>"])
    output = solve(
        multi_turn(
            loop(
                said("user", "q{{ loop_index }}"),
                {**GENERATE, "terminate_if": {**DONE, "keep_iteration": False}},
            ),
            said("user", "after"),
        ),
        models,
    )
    assert [text for _, text in conversation(output)] == ["q0", "a", "after"]
    assert len(output.raw_outputs_json) == 2


def test_the_last_reply_dropped_leaves_an_earlier_one_last():
    dropping = {**GENERATE, "terminate_if": {**DONE, "keep_iteration": False}}
    models = Models(tested=["a", "<done>"])
    output = solve(multi_turn(said("user", "q"), loop(dropping)), models)
    assert output.trace.get_last_assistant_text() == "a"


@pytest.mark.parametrize(
    ("condition", "on_max", "fails"),
    [
        pytest.param(DONE, "error", True, id="error is the default with a condition"),
        pytest.param(DONE, None, True, id="left out is error"),
        pytest.param(DONE, "continue", False, id="continue"),
        pytest.param(None, "error", False, id="error is ignored without a condition"),
        pytest.param(None, None, False, id="nothing said"),
    ],
)
@pytest.mark.parametrize("times", [0, 3])
def test_the_end_of_the_iterations(condition, on_max, fails, times):
    asking = {**GENERATE, "terminate_if": condition}
    ended = loop(asking, max_iterations=times)
    if on_max is not None:
        ended["on_max_iterations"] = on_max
    models = Models(tested=["a"] * times)
    definition = multi_turn(ended, said("user", "after"))
    if fails:
        with pytest.raises(SampleError, match=f"within {times} iterations"):
            solve(definition, models)
    else:
        assert len(conversation(solve(definition, models))) == times + 1
    assert len(models.asked) == times


def test_ten_iterations_when_nothing_is_said():
    models = Models(tested=["a"] * 10)
    assert len(conversation(solve(multi_turn(loop(GENERATE)), models))) == 10


def test_an_inner_ending_leaves_the_inner_loop_alone():
    inner = loop(said("user", "in <done>", terminate_if=DONE), said("user", "never"))
    output = solve(
        multi_turn(loop(inner, said("user", "out"), max_iterations=2), said("user", "after"))
    )
    assert [text for _, text in conversation(output)] == [
        "in <done>", "out", "in <done>", "out", "after",
    ]  # fmt: skip


def test_conditions_of_an_inner_loop_are_not_the_outer_loops():
    inner = loop(said("user", "<done>", terminate_if=DONE))
    output = solve(multi_turn(loop(inner, max_iterations=2, on_max_iterations="error")))
    assert len(conversation(output)) == 2


def test_an_inner_iteration_is_dropped_to_where_it_began():
    dropping = {**DONE, "keep_iteration": False}
    inner = loop(
        said("user", "i{{ loop_index }}"),
        said("user", "{{ '<done>' if loop_index else 'x' }}", terminate_if=dropping),
    )
    output = solve(multi_turn(loop(said("user", "o"), inner, max_iterations=2)))
    assert [text for _, text in conversation(output)] == ["o", "i0", "x"] * 2


def test_it_may_be_empty():
    output = solve(multi_turn(loop(max_iterations=10**12), said("user", "after")))
    assert conversation(output) == [("user", "after")]


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(loop(loop(max_iterations=0), max_iterations=10**12), id="loops of loops"),
        pytest.param(loop(said("user", "x"), max_iterations=10**12), id="messages alone"),
    ],
)
def test_an_endless_one_is_an_error_of_the_sample(endless, monkeypatch):
    monkeypatch.setattr(conversation_module, "MAX_STEPS", 1_000)
    with pytest.raises(SampleError, match="more than 1,000 steps"):
        solve(multi_turn(endless))


def test_load_trace_may_not_stand_in_one():
    with pytest.raises(ValidationError, match="load_trace"):
        solver(multi_turn(loop({"type": "load_trace", "trace_column": "t"})))


def test_it_lets_other_conversations_go_on():
    talking = solver(multi_turn(loop(said("user", "x"), max_iterations=5)))
    order = []

    async def one(name: str) -> None:
        await talking.solve(Sample(name, 0, {}), SolverContext("tested", Models()))
        order.append(name)

    async def both() -> None:
        endless = solver(multi_turn(loop(said("user", "x"), max_iterations=2000)))
        long = asyncio.create_task(
            endless.solve(Sample("long", 0, {}), SolverContext("tested", Models()))
        )
        await asyncio.sleep(0)
        await one("short")
        order.append("long" if long.done() else "long still talks")
        await long

    asyncio.run(both())
    assert order == ["short", "long still talks"]
