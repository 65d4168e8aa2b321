"""One call: what is sent, what is recorded."""

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.trace import message_item
from tests.solvers.scripted import Models, chat, conversation, items_output, solve, solver


def asking(*messages: tuple[str, str]) -> dict:
    listed = [{"role": role, "content": content} for role, content in messages]
    builder = {"type": "chat_completion", "input_messages": listed}
    return {"type": "single_turn_solver", "input_builder": builder}


def generic(template: str) -> dict:
    return {
        "type": "single_turn_solver",
        "input_builder": {"type": "generic", "template": template},
    }


def test_rendered_messages_are_sent_in_order():
    models = Models(tested=["Tokyo"])
    output = solve(
        asking(("system", "One word."), ("user", "{{ sample.q }}"), ("assistant", "Hm")),
        models,
        q="Capital of Japan?",
    )
    assert models.asked == [
        (
            "tested",
            {
                "messages": [
                    {"role": "system", "content": "One word."},
                    {"role": "user", "content": "Capital of Japan?"},
                    {"role": "assistant", "content": "Hm"},
                ]
            },
            False,
        )
    ]
    assert conversation(output)[-2:] == [("assistant", "Hm"), ("assistant", "Tokyo")]
    assert output.raw_outputs_json == [chat("Tokyo").raw]


@pytest.mark.parametrize(
    ("template", "sent", "recorded"),
    [
        pytest.param(
            '{"messages": [{"role": "user", "content": {{ sample.q | tojson }}}], "seed": 1}',
            {"messages": [{"role": "user", "content": 'say "hi"'}], "seed": 1},
            ["message"],
            id="a chat with more keys",
        ),
        pytest.param(
            '["a", {{ sample.q | tojson }}]', ["a", 'say "hi"'], ["custom_task_input_message"],
            id="texts to embed",
        ),
        pytest.param("7", 7, ["custom_task_input_message"], id="any JSON"),
        pytest.param(
            '{"messages": "none"}', {"messages": "none"}, ["custom_task_input_message"],
            id="messages that are no list",
        ),
        pytest.param(
            '{"messages": [{"role": "user", "content": [{"type": "text", "text": "t"},'
            ' {"type": "image_url", "image_url": {"url": "u"}}]}]}',
            {
                "messages": [
                    {
                        "role": "user",
                        "content": [
                            {"type": "text", "text": "t"},
                            {"type": "image_url", "image_url": {"url": "u"}},
                        ],
                    }
                ]
            },
            ["message"],
            id="files are sent",
        ),
    ],
)  # fmt: skip
def test_a_generic_template_is_the_whole_input(template, sent, recorded):
    models = Models(tested=["ok"])
    output = solve(generic(template), models, q='say "hi"')
    assert models.asked == [("tested", sent, False)]
    kinds = [item["type"] for item in output.trace.raw_items]
    assert kinds == [*recorded, "message"]


def test_custom_outputs_are_custom_items():
    raw = {"label": "x"}
    output = solve(generic('{"a": 1}'), Models(tested=[ModelOutput(raw)]))
    assert output.trace.raw_items == [
        {"type": "custom_task_input_message", "content": {"a": 1}},
        {"type": "custom_task_output_message", "content": raw},
    ]
    assert output.raw_outputs_json == [raw]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        pytest.param('{"messages": ', "no JSON", id="no JSON"),
        pytest.param('{"x": "{{ sample.q }}"}', "no JSON", id="text that was not escaped"),
        pytest.param("{{ sample.nope }}", "nope", id="an undefined column"),
        pytest.param('{"messages": [1]}', r"messages\[0\]", id="a message that is none"),
        pytest.param('{"messages": [{"content": "x"}]}', "role", id="no role"),
        pytest.param(
            '{"messages": [{"role": "critic", "content": "x"}]}', "critic", id="unknown role"
        ),
        pytest.param('{"messages": [{"role": "user", "content": 3}]}', "3", id="a number said"),
    ],
)
def test_an_input_that_can_not_be_built_costs_no_call(template, problem):
    models = Models(tested=["paid"])
    with pytest.raises(SampleError, match=problem) as error:
        solve(generic(template), models, q='say "hi"')
    assert error.value.error_class == "template"
    assert models.asked == []


def test_a_refusal_is_an_output_and_no_text_of_the_trace():
    output = solve(asking(("user", "x")), Models(tested=[chat(None, refusal="I'd rather not")]))
    assert conversation(output)[-1] == ("assistant", "")
    assert output.raw_outputs_json[0]["choices"][0]["message"]["refusal"] == "I'd rather not"


def test_a_refusal_part_is_kept_and_is_text():
    refused = {
        **message_item("assistant", ""), "content": [{"type": "refusal", "refusal": "No."}]
    }  # fmt: skip
    output = solve(asking(("user", "x")), Models(tested=[items_output(refused)]))
    assert conversation(output)[-1] == ("assistant", "No.")


def test_of_several_choices_the_first_is_recorded():
    raw = chat("a").raw
    both = ModelOutput({**raw, "choices": [*raw["choices"], *chat("b").raw["choices"]]})
    output = solve(asking(("user", "x")), Models(tested=[both]))
    assert conversation(output) == [("user", "x"), ("assistant", "a")]
    assert len(output.raw_outputs_json[0]["choices"]) == 2


@pytest.mark.parametrize(
    "definition",
    [
        pytest.param(asking(), id="no messages"),
        pytest.param(asking(("tool", "x")), id="unknown role"),
        pytest.param(asking(("user", "{{ x")), id="bad template"),
        pytest.param({"type": "single_turn_solver"}, id="no builder"),
        pytest.param(
            {"type": "single_turn_solver", "input_builder": {"template": "1"}}, id="no type"
        ),
    ],
)
def test_what_may_not_be_written(definition):
    with pytest.raises(ValidationError):
        solver(definition)
