"""How many calls a sample takes, foretold from the definition alone."""

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tests.solvers.scripted import GENERATE, helper, loop, multi_turn, said, solver

DONE = {"terminate_if": {"includes": "<done>"}}


@pytest.mark.parametrize(
    ("definition", "calls"),
    [
        pytest.param(multi_turn(said("user", "x")), {}, id="none"),
        pytest.param(multi_turn(GENERATE, GENERATE), {"tested": (2, 2)}, id="in a row"),
        pytest.param(
            multi_turn(GENERATE, helper(**DONE), GENERATE), {"tested": (1, 2), "user": (1, 1)},
            id="an ending in the middle",
        ),
        pytest.param(
            multi_turn(GENERATE, helper(output_role="user"), GENERATE),
            {"tested": (1, 2), "user": (1, 1)},
            id="a user may be silent",
        ),
        pytest.param(
            multi_turn(loop(GENERATE, helper(), max_iterations=3)),
            {"tested": (3, 3), "user": (3, 3)},
            id="a loop that nothing ends",
        ),
        pytest.param(
            multi_turn(loop(helper(**DONE), GENERATE, max_iterations=3), GENERATE),
            {"tested": (1, 4), "user": (1, 3)},
            id="a loop that may end",
        ),
        pytest.param(
            multi_turn(loop(helper(**DONE), max_iterations=0), GENERATE),
            {"tested": (1, 1), "user": (0, 0)},
            id="a loop of none",
        ),
        pytest.param(
            multi_turn(loop(loop(GENERATE, said("user", "x", **DONE)), GENERATE, max_iterations=2)),
            {"tested": (4, 22)},
            id="loops in loops",
        ),
        pytest.param(
            multi_turn({**helper(), "model_key": "tested"}, GENERATE), {"tested": (2, 2)},
            id="one model in both parts",
        ),
        pytest.param(
            {"type": "python", "run_solver_snippet": "def run_solver(): ..."},
            {"tested": (0, None)},
            id="an author's own",
        ),
        pytest.param({"type": "pass_through_solver", "trace_column": "t"}, {}, id="a recorded one"),
    ],
)  # fmt: skip
def test_calls_of_a_sample(definition, calls):
    found = solver(definition).calls("tested")
    assert {key: (n.least, n.most) for key, n in found.items()} == calls


@pytest.mark.parametrize(
    ("definition", "asks"),
    [
        (multi_turn(helper()), False),
        (multi_turn(loop(loop(GENERATE))), True),
        (multi_turn(said("user", "x")), False),
    ],
)
def test_a_conversation_without_generate_evaluates_no_model(definition, asks):
    assert solver(definition).asks_evaluated_model == asks


@pytest.mark.parametrize(
    ("builders", "texts"),
    [
        ([said("user", "{{ sample.q }}"), GENERATE], ["Q"]),
        ([said("user", "a"), loop(helper("{{ messages | length }}, {{ loop_index }}"))],
         ["a", "1, 0"]),
        ([said("user", "a"), loop(GENERATE, max_iterations=0), helper("b")], ["a", "b"]),
        ([said("user", "<done>", **DONE), GENERATE], None),
        ([said("user", "alone")], None),
    ],
)  # fmt: skip
def test_the_first_input_is_known_without_a_call(builders, texts):
    first = solver(multi_turn(*builders)).first_input(Sample("s", 0, {"q": "Q"}))
    found = None if first is None else [message["content"] for message in first["messages"]]
    assert found == texts


def test_a_first_input_that_can_not_be_built_says_why():
    with pytest.raises(SampleError, match="nope"):
        solver(multi_turn(said("user", "{{ sample.nope }}"))).first_input(Sample("s", 0, {}))
