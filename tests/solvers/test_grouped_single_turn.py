"""Several questions about one sample, each asked without the others."""

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tests.engine import EQUALS, python_scorer, saying
from tests.solvers.scripted import Models, chat, solve, solver

CHATS = """
{% set chat = [{"role": "user", "content": sample.q}] %}
[{"messages": {{ chat | tojson }}}, {"messages": [{"role": "user", "content": "Sure?"}]}]
"""
NAMED = """
{"first": {"messages": [{"role": "user", "content": "1"}]}, "second": {"x": [1]}}
"""


def grouped(template: str, **more) -> dict:
    builder = {"type": "generic", "template": template}
    return {"type": "grouped_single_turn_solver", "input_builder": builder, **more}


def shown(definition: dict, models: Models, **columns):
    """What authors' code gets of one sample."""
    made = solver(definition)
    return made.shown(solve(made, models, **columns)).solver_outputs


def test_each_input_is_a_conversation_of_its_own():
    models = Models(tested=["Tokyo", "Yes"])
    first, second = shown(grouped(CHATS), models, q="Capital?")
    assert models.texts("tested") == [["Capital?"], ["Sure?"]]
    assert [message.content for message in first.messages] == ["Capital?", "Tokyo"]
    assert [message.content for message in second.messages] == ["Sure?", "Yes"]
    assert second.raw_outputs_json == [chat("Yes").raw]


def test_inputs_by_name_are_outputs_by_name_and_may_be_anything():
    outputs = shown(grouped(NAMED), Models(tested=["a", "b"]))
    assert list(outputs) == ["first", "second"]
    assert [item["type"] for item in outputs["second"].trace.raw_items] == [
        "custom_task_input_message", "message",
    ]  # fmt: skip


@pytest.mark.parametrize("template", ["[]", "{}", "7", '"text"', '[{"messages": [1]}]', "[{}, {"])
def test_inputs_that_can_not_be_sent_cost_no_call(template):
    models = Models(tested=["paid"])
    with pytest.raises(SampleError) as error:
        solve(grouped(template), models)
    assert error.value.error_class == "template"
    assert models.asked == []


@pytest.mark.parametrize("template", [CHATS, NAMED])
def test_what_is_sent_first_is_foretold(template):
    models = Models(tested=["a", "b"])
    made = solver(grouped(template))
    solve(made, models, q="?")
    assert made.first_input(Sample("s", 0, {"q": "?"})) == models.asked[0][1]
    assert made.asks_evaluated_model


def test_only_a_generic_builder_can_write_it():
    with pytest.raises(ValidationError):
        solver({"type": "grouped_single_turn_solver", "input_builder": {"type": "chat_completion"}})


def test_python_scorers_get_the_group_and_others_refuse_it(engine):
    counting = (
        "def compute_scores(sample, solver_output):\n"
        "    first, second = solver_output.solver_outputs\n"
        "    said = [one.trace.get_last_assistant_text() for one in (first, second)]\n"
        "    return {'same': said == ['yes', 'yes'], 'n': len(first.messages)}"
    )
    task = {
        "dataset": {"key": "qa"},
        "solver": grouped(CHATS),
        "scorers": [python_scorer(counting, "same", "n"), EQUALS],
    }
    ran = engine.run(task, [{"q": "?", "a": "yes"}], models=[saying(default="yes")])
    assert (ran.values["same"], ran.values["n"]) == (1.0, 2.0)
    assert list(ran.run.scores("right")["error_class"]) == ["data"]
    assert list(ran.run.samples()["calls"]) == [2]


@pytest.mark.parametrize(
    ("returned", "groups"),
    [
        pytest.param("[(sample, one) for one in outputs]", [False, False], id="rows of one each"),
        pytest.param("[(sample, solver_output)]", [True], id="the group"),
    ],
)
def test_a_postprocessor_may_split_the_group_or_keep_it(engine, returned, groups):
    source = (
        "def postprocess(sample, solver_output):\n"
        "    outputs = solver_output.solver_outputs\n"
        f"    return {returned}"
    )
    telling = (
        "def compute_scores(sample, solver_output):\n"
        "    return {'group': hasattr(solver_output, 'solver_outputs')}"
    )
    task = {
        "dataset": {"key": "qa"},
        "solver": grouped(CHATS, postprocessor={"type": "python", "postprocess_snippet": source}),
        "scorers": [python_scorer(telling, "group")],
    }
    ran = engine.run(task, [{"q": "?"}], models=[saying(default="yes")])
    assert list(ran.run.scores("own")["group"]) == groups
