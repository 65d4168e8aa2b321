"""The builders of a conversation, their order, and what is sent and recorded."""

import asyncio
import json
import pickle

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BrokenOffError, SolverContext
from tasks_lib.trace import message_item
from tests.items import answer, call
from tests.solvers.scripted import (
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
    solver,
)


def test_chat_messages_are_rendered_and_appended_without_a_call():
    models = Models()
    output = solve(
        multi_turn(said("system", "Be {{ sample.how }}."), said("assistant", "Hello!")),
        models,
        how="kind",
    )
    assert conversation(output) == [("system", "Be kind."), ("assistant", "Hello!")]
    assert output.raw_outputs_json == []
    assert output.output is None
    assert models.asked == []


def test_generate_sends_the_whole_conversation_and_keeps_every_output():
    models = Models(tested=["A", "B"])
    output = solve(multi_turn(said("user", "1"), GENERATE, said("user", "2"), GENERATE), models)
    assert conversation(output) == [
        ("user", "1"), ("assistant", "A"), ("user", "2"), ("assistant", "B"),
    ]  # fmt: skip
    assert models.asked == [
        ("tested", {"messages": [{"role": "user", "content": "1"}]}, False),
        (
            "tested",
            {
                "messages": [
                    {"role": "user", "content": "1"},
                    {"role": "assistant", "content": "A"},
                    {"role": "user", "content": "2"},
                ]
            },
            False,
        ),
    ]
    assert output.raw_outputs_json == [chat("A").raw, chat("B").raw]


def test_items_are_written_as_the_platform_writes_them():
    output = solve(multi_turn(said("user", "Q"), GENERATE), Models(tested=["A"]))
    assert output.trace.raw_items == [message_item("user", "Q"), message_item("assistant", "A")]


def test_generate_on_an_empty_conversation_sends_an_empty_chat():
    models = Models(tested=["Hello"])
    solve(multi_turn(GENERATE), models)
    assert models.asked == [("tested", {"messages": []}, False)]


def test_a_model_that_does_not_chat_gets_the_last_custom_content():
    models = Models(tested=[items_output(message_item("assistant", "fine"))])
    row = {"items": [{"type": "custom_task_input_message", "content": {"x": [1]}}]}
    solve(multi_turn({"type": "load_trace", "trace_column": "t"}, GENERATE), models, t=row)
    assert models.asked == [("tested", {"x": [1]}, False)]


def test_messages_is_the_conversation_at_that_moment():
    output = solve(
        multi_turn(
            said("user", "one"),
            GENERATE,
            said("user", "{{ messages | length }} {{ messages[-1]['content'] }}"),
        ),
        Models(tested=["two"]),
    )
    assert conversation(output)[-1] == ("user", "2 two")


def test_function_calls_and_developer_messages_are_skipped():
    items = [
        message_item("developer", "hidden"),
        message_item("user", "Q"),
        call(),
        answer("x"),
        message_item("assistant", "A"),
    ]
    models = Models(tested=["B"])
    output = solve(
        multi_turn(
            {"type": "load_trace", "trace_column": "t"},
            said("user", "{{ messages | map(attribute='role') | join(' ') }}"),
            GENERATE,
        ),
        models,
        t=json.dumps(items),
    )
    assert models.texts("tested") == [["Q", "A", "user assistant"]]
    assert len(output.trace.raw_items) == 7


def test_loop_index_counts_from_zero_in_the_innermost_loop():
    output = solve(
        multi_turn(
            loop(
                said("user", "outer {{ loop_index }}"),
                loop(said("user", "inner {{ loop_index }}"), max_iterations=2),
                said("user", "again {{ loop_index }}"),
                max_iterations=2,
            )
        )
    )
    assert [text for _, text in conversation(output)] == [
        "outer 0", "inner 0", "inner 1", "again 0", "outer 1", "inner 0", "inner 1", "again 1",
    ]  # fmt: skip


@pytest.mark.parametrize("before", [[], [loop(said("user", "x"), max_iterations=1)]])
def test_loop_index_is_undefined_outside_loops(before):
    with pytest.raises(SampleError, match="loop_index") as error:
        solve(multi_turn(*before, said("user", "{{ loop_index }}")))
    assert error.value.error_class == "template"


def test_what_was_said_is_never_rendered_again():
    """BR-012 in a conversation: data and replies are values, whatever they look like."""
    models = Models(tested=["It shows {{ 6*6 }}", "B"])
    solve(
        multi_turn(
            said("user", "{{ sample.html }}"),
            GENERATE,
            said("user", "{{ messages[-1].content }} {% raw %}{{ x }}{% endraw %}"),
            GENERATE,
        ),
        models,
        html="<p>{{ 7*7 }} {% for %} {# note #}",
    )
    assert models.texts("tested")[-1] == [
        "<p>{{ 7*7 }} {% for %} {# note #}", "It shows {{ 6*6 }}", "It shows {{ 6*6 }} {{ x }}",
    ]  # fmt: skip


def test_columns_win_over_dict_methods():
    """BR-014 in a conversation."""
    template = said("user", "{{ sample.basket.items | join(', ') }}")
    output = solve(multi_turn(template), basket={"items": ["apple", "pear"]})
    assert conversation(output) == [("user", "apple, pear")]
    with pytest.raises(SampleError, match=r"basket\.items"):
        solve(multi_turn(template), basket={"count": 0})


ITEMS = (message_item("user", "Q"), message_item("assistant", "A"))


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"FORMAT": "open_responses", "items": list(ITEMS)}, id="an object"),
        pytest.param({"items": list(ITEMS)}, id="FORMAT left out"),
        pytest.param(list(ITEMS), id="a list of items"),
        pytest.param(json.dumps({"items": ITEMS}), id="JSON text"),
        pytest.param(
            [{"role": "user", "content": "Q"}, {"role": "assistant", "content": "A"}],
            id="chat messages",
        ),
    ],
)
def test_load_trace_all_items_are_appended_in_order(value):
    loading = {"type": "load_trace", "trace_column": "t"}
    output = solve(multi_turn(said("system", "S"), loading, said("user", "more")), t=value)
    assert conversation(output) == [
        ("system", "S"), ("user", "Q"), ("assistant", "A"), ("user", "more"),
    ]  # fmt: skip
    assert output.raw_outputs_json == []


@pytest.mark.parametrize(
    ("columns", "problem"),
    [
        pytest.param({}, "no column 't'", id="no column"),
        pytest.param({"t": None}, "holds no trace", id="null"),
        pytest.param({"t": "hello"}, "holds no trace", id="some text"),
        pytest.param({"t": {"turns": []}}, "holds no trace", id="another object"),
        pytest.param({"t": {"items": [{"type": "thought"}]}}, "holds no trace", id="bad item"),
    ],
)
def test_load_trace_anything_else_is_an_error_of_the_sample(columns, problem):
    with pytest.raises(SampleError, match=problem) as error:
        solve(multi_turn({"type": "load_trace", "trace_column": "t"}), **columns)
    assert error.value.error_class == "data"


def test_nobody_hears_what_a_model_thought():
    thought = {
        **message_item("assistant", ""),
        "content": [{"type": "reasoning_text", "text": "they want the price"}],
    }
    models = Models(
        tested=[items_output(thought, message_item("assistant", "10 euro")), "bye"], user=["ok"]
    )
    output = solve(multi_turn(GENERATE, helper(output_role="user"), GENERATE), models)
    assert models.texts("user") == [["10 euro", "Go on."]]
    assert models.texts("tested")[-1] == ["10 euro", "ok"]
    assert len(output.trace.raw_items) == 4


def test_errors_of_models_and_templates_end_the_sample():
    failing = Models(tested=["a", SampleError("infra", "HTTP 500")])
    with pytest.raises(BrokenOffError, match="HTTP 500") as error:
        solve(multi_turn(GENERATE, GENERATE), failing)
    assert error.value.error_class == "infra"
    assert conversation(error.value.output) == [("assistant", "a")]
    assert type(pickle.loads(pickle.dumps(error.value))) is SampleError
    with pytest.raises(SampleError, match="nope"):
        solve(multi_turn(said("user", "{{ sample.nope }}")))


def test_conversations_share_nothing():
    """BR-066: what is done to one message shows in no other conversation, trial or record."""
    chatting = solver(
        multi_turn(
            said("system", "You are terse."), said("user", "{{ sample.a }}"), GENERATE,
            said("user", "{{ sample.b }}"), GENERATE,
        )
    )  # fmt: skip

    def editing(model_input: dict) -> str:
        heard = [message["content"] for message in model_input["messages"]]
        if len(heard) > 2 and "a1" in heard[1]:
            model_input["messages"][-1]["content"] += " [edited]"
        return f"re: {heard[-1]}"

    models = [Models(tested=editing) for _ in range(3)]
    samples = [
        Sample("c1", 0, {"a": "a1", "b": "a2"}),
        Sample("c2", 1, {"a": "b1", "b": "b2"}),
        Sample("c1", 0, {"a": "a1", "b": "a2"}),
    ]

    async def all_at_once() -> list:
        return await asyncio.gather(
            *(
                chatting.solve(sample, SolverContext("tested", calls))
                for sample, calls in zip(samples, models, strict=True)
            )
        )

    first, second, again = asyncio.run(all_at_once())
    assert models[1].texts("tested") == [
        ["You are terse.", "b1"], ["You are terse.", "b1", "re: b1", "b2"],
    ]  # fmt: skip
    assert models[2].texts("tested")[0] == ["You are terse.", "a1"]
    for output in (first, second, again):
        assert "[edited]" not in output.trace.to_json()
    first.trace.items[0].content[0].text = "changed"
    assert "changed" not in second.trace.to_json() + again.trace.to_json()


@pytest.mark.parametrize(
    ("definition", "place"),
    [
        pytest.param(multi_turn(), "message_builders", id="no builder"),
        pytest.param(multi_turn({"type": "python"}), "message_builders", id="unknown builder"),
        pytest.param(
            multi_turn({"type": "chat_message", "role": "user"}), "content", id="no content"
        ),
        pytest.param(multi_turn(said("tool", "x")), "role", id="unknown role"),
        pytest.param(multi_turn(said("user", "{{ x")), "content", id="bad template"),
        pytest.param(
            multi_turn({**helper(), "extra_input_messages": []}), "extra_input", id="no instruction"
        ),
        pytest.param(multi_turn({**helper(), "model_key": None}), "model_key", id="no model"),
        pytest.param(multi_turn(helper(output_role="tool")), "output_role", id="unknown output"),
        pytest.param(multi_turn(loop(max_iterations=-1)), "max_iterations", id="negative"),
        pytest.param(
            multi_turn(loop(on_max_iterations="stop")), "on_max_iterations", id="unknown end"
        ),
        pytest.param(multi_turn({"type": "load_trace"}), "trace_column", id="no column"),
        pytest.param(
            multi_turn({**GENERATE, "terminate_if": {"keep_iteration": True}}), "includes",
            id="a condition without text",
        ),
        pytest.param(multi_turn({**GENERATE, "tools": []}), "tools", id="unknown key"),
        pytest.param(
            multi_turn(
                {"type": "load_trace", "trace_column": "t", "terminate_if": {"includes": "x"}}
            ),
            "terminate_if",
            id="load_trace has no condition",
        ),
    ],
)  # fmt: skip
def test_what_may_not_be_written(definition, place):
    with pytest.raises(ValidationError) as error:
        solver(definition)
    assert any(place in map(str, found["loc"]) or place in str(found["loc"])
               for found in error.value.errors())  # fmt: skip
