"""Whatever is written, a conversation ends: with an output or with an error of its sample."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import SampleError
from tests.solvers.scripted import (
    Models,
    chat,
    conversation,
    items_output,
    loop,
    multi_turn,
    said,
    solve,
    solver,
)

ROLES = st.sampled_from(["system", "user", "assistant"])
CONDITION = st.none() | st.fixed_dictionaries(
    {"includes": st.sampled_from(["", "<done>", "a", "é", "1"]), "keep_iteration": st.booleans()}
)
CONTENT = st.sampled_from(
    [
        "a", "", "<done>", "{{ sample.x }}", "{{ messages[-1].content }}", "{{ loop_index }}",
        "{{ messages | length }}", "{{ sample.nope }}", "é\n",
    ]
)  # fmt: skip


def ending(builders: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.tuples(builders, CONDITION).map(lambda pair: {**pair[0], "terminate_if": pair[1]})


MESSAGE = ending(st.builds(said, ROLES, CONTENT))
GENERATE = ending(st.just({"type": "generate"}))
HELPER = ending(
    st.builds(
        lambda extra, role, include: {
            "type": "generate_message", "model_key": "user", "extra_input_messages": extra,
            "output_role": role, "include_conversation": include,
        },
        st.lists(MESSAGE, min_size=1, max_size=2), st.none() | ROLES, st.booleans(),
    )
)  # fmt: skip
LOADING = st.sampled_from(["trace", "bad", "absent"]).map(
    lambda column: {"type": "load_trace", "trace_column": column}
)
SPEAKING = MESSAGE | GENERATE | HELPER


def looping(inner: st.SearchStrategy[dict]) -> st.SearchStrategy[dict]:
    return st.builds(
        lambda builders, most, on_max: loop(
            *builders, max_iterations=most, on_max_iterations=on_max
        ),
        st.lists(inner, max_size=3), st.integers(0, 4), st.sampled_from(["error", "continue"]),
    )  # fmt: skip


TREES = st.lists(LOADING | st.recursive(SPEAKING, looping, max_leaves=8), min_size=1, max_size=4)
REPLIES = st.lists(
    st.one_of(
        st.sampled_from(["a", "", " ", "<done>", "é"]),
        st.sampled_from([chat("", "length"), items_output(), SampleError("infra", "HTTP 500")]),
    ),
    min_size=1,
)
ROW = {
    "x": "1",
    "bad": "{}",
    "trace": [{"role": "user", "content": "<done>"}, {"role": "assistant", "content": "b"}],
}


class Endless(Models):
    """Models that begin again with their first reply; they count evaluated outputs."""

    def __init__(self, replies):
        self.outputs = 0
        said_again = {key: iter(lambda: next(self._next), None) for key in ("tested", "user")}
        self._next = (reply for _ in iter(int, 1) for reply in replies)
        super().__init__(**said_again)

    async def predict(self, model_key, model_input, *, auxiliary=False):
        output = await super().predict(model_key, model_input, auxiliary=auxiliary)
        self.outputs += not auxiliary
        return output


@given(TREES, REPLIES)
def test_every_conversation_ends_and_is_a_trace(builders, replies):
    made = solver(multi_turn(*builders))
    models = Endless(replies)
    with suppress(SampleError):
        output = solve(made, models, **ROW)
        conversation(output)
        assert len(output.raw_outputs_json) == models.outputs


@given(TREES, REPLIES)
def test_calls_are_as_many_as_foretold(builders, replies):
    made = solver(multi_turn(*builders))
    models = Endless(replies)
    failed = False
    try:
        solve(made, models, **ROW)
    except SampleError:
        failed = True
    foretold = made.calls("tested")
    for key in ("tested", "user"):
        made_calls = [asked for asked, _, _ in models.asked].count(key)
        if key not in foretold:
            assert made_calls == 0
            continue
        most = foretold[key].most
        assert most is not None
        assert (0 if failed else foretold[key].least) <= made_calls <= most


# none that repeats what was said, the marks of the test among it
PLAIN = ending(st.builds(said, ROLES, st.sampled_from(["a", "", "<done>", "{{ loop_index }}"])))


@given(st.lists(PLAIN | GENERATE, min_size=1, max_size=4), REPLIES, st.integers(0, 4))
def test_an_iteration_is_kept_whole_or_dropped_whole(builders, replies, most):
    """What a loop leaves is what was there before, and the iterations it kept, complete."""
    marked = [said("system", "iteration"), *builders, said("system", "complete")]
    before = said("user", "before")
    definition = multi_turn(
        before, loop(*marked, max_iterations=most, on_max_iterations="continue")
    )
    with suppress(SampleError):
        said_there = conversation(solve(definition, Endless(replies), **ROW))
        assert said_there[0] == ("user", "before")
        begun = said_there.count(("system", "iteration"))
        ended = said_there.count(("system", "complete"))
        assert begun <= most
        assert begun - ended in (0, 1)
        if begun > ended:  # the one that was kept when a condition held comes last
            last = max(i for i, m in enumerate(said_there) if m == ("system", "iteration"))
            assert ("system", "complete") not in said_there[last:]
