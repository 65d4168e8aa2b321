import asyncio
from pathlib import Path
from typing import Any

import orjson
import pytest

from tasks_lib.definitions.adapter import ModelAdapter
from tasks_lib.errors import DefinitionError, SampleError
from tasks_lib.models.adapters import BUILT_IN, TemplateAdapter
from tasks_lib.models.connections.base import CallFailure, ModelInfo
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.templates import compile_template
from tasks_lib.trace import output_text
from tests.fake_openai import RunningServer
from tests.models.calling import asked, calls_of, endpoint, service_of

CHAT = BUILT_IN["latticeflow$openai_chat_completion"]
RESPONSES = BUILT_IN["latticeflow$openai_responses"]
IDENTITY = BUILT_IN["latticeflow$identity"]
INFO = ModelInfo("lab", "lab-1")
MESSAGES = [{"role": "user", "content": "hi"}]


def sent(adapter: Any, model_input: Any, info: ModelInfo = INFO, **parameters: Any) -> Any:
    return orjson.loads(adapter.request(model_input, info, parameters))


def templates(process_input: str, process_output: str) -> TemplateAdapter:
    return TemplateAdapter(
        compile_template(process_input, "mine process_input"),
        compile_template(process_output, "mine process_output"),
    )


# requests


def test_a_chat_request_names_the_model_and_passes_all_else():
    body = {"messages": MESSAGES, "response_format": {"type": "text"}, "n": 2}
    assert sent(CHAT, body) == {"model": "lab-1", **body}
    assert "model" not in sent(CHAT, body, ModelInfo("lab", ""))


@pytest.mark.parametrize("adapter", [CHAT, RESPONSES, IDENTITY])
def test_what_the_input_says_wins_over_the_models_parameters(adapter: Any):
    body = sent(adapter, {"messages": MESSAGES, "temperature": 0}, temperature=1, seed=7)
    assert (body["temperature"], body["seed"]) == (0, 7)


def test_a_responses_request_has_that_apis_names():
    schema = {"name": "answer", "schema": {"type": "object"}, "strict": True}
    body = sent(
        RESPONSES,
        {
            "messages": MESSAGES,
            "max_tokens": 16,
            "response_format": {"type": "json_schema", "json_schema": schema},
            "text": {"verbosity": "low"},
        },
    )
    assert body == {
        "model": "lab-1",
        "input": MESSAGES,
        "max_output_tokens": 16,
        "text": {"verbosity": "low", "format": {"type": "json_schema", **schema}},
    }
    assert sent(RESPONSES, {"messages": [], "max_completion_tokens": 5})["max_output_tokens"] == 5
    plain = sent(RESPONSES, {"input": "hi", "response_format": None})
    assert plain == {"model": "lab-1", "input": "hi"}


@pytest.mark.parametrize("form", ["json", {}, {"type": "json_schema", "json_schema": "x"}])
def test_a_response_format_that_is_none_is_a_data_error(form: Any):
    with pytest.raises(SampleError, match=r"'response_format' is .*; make it") as caught:
        sent(RESPONSES, {"messages": MESSAGES, "response_format": form})
    assert caught.value.error_class == "data"


@pytest.mark.parametrize("adapter", [CHAT, RESPONSES])
@pytest.mark.parametrize("model_input", ["text", ["a"], None, 1])
def test_a_chat_model_takes_objects_only(adapter: Any, model_input: Any):
    with pytest.raises(SampleError, match="not an object with 'messages'; make it one") as caught:
        sent(adapter, model_input)
    assert caught.value.error_class == "data"


@pytest.mark.parametrize("model_input", [["a", "b"], "text", None, 1, {"query": "x"}])
def test_identity_passes_any_json(model_input: Any):
    assert sent(IDENTITY, model_input) == model_input


def test_nothing_is_lost_on_the_way():
    """BR-030."""
    odd = {"messages": [{"role": "user", "content": "\0 \x1b \ud800 ü"}], "seed": 10**30}
    body = IDENTITY.request(odd, INFO, {})
    body.decode()
    assert IDENTITY.reply(body, INFO).raw == odd


# replies


@pytest.mark.parametrize(
    "value",
    [
        "text",
        1,
        None,
        [1, 2],
        {"answer": 42},
        {"error": 0.25},
        {"items": "no list"},
        {"output": "x"},
    ],
)
def test_identity_leaves_what_it_does_not_know(value: Any):
    assert IDENTITY.reply(orjson.dumps(value), INFO) == ModelOutput(value)


def test_identity_knows_the_shapes_of_model_outputs():
    chat = {"choices": [{"message": {"content": None, "refusal": "no"}, "finish_reason": "stop"}]}
    assert output_text(IDENTITY.reply(orjson.dumps(chat), INFO).raw) == ""
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "x"}],
    }
    response = {"object": "response", "status": "completed", "output": [item]}
    assert output_text(IDENTITY.reply(orjson.dumps(response), INFO).raw) == "x"
    counted = {"embeddings": [[0.5]], "usage": {"num_prompt_tokens": 3}}
    assert IDENTITY.reply(orjson.dumps(counted), INFO) == ModelOutput(counted, None, 3, 0)


@pytest.mark.parametrize("adapter", [CHAT, RESPONSES, IDENTITY])
@pytest.mark.parametrize("body", [b"<html>", b'{"error": {"message": "busy"}}', b""])
def test_what_is_no_reply_may_be_asked_for_again(adapter: Any, body: bytes):
    with pytest.raises(CallFailure) as caught:
        adapter.reply(body, INFO)
    assert caught.value.retryable


# adapters of users

INPUT = """{
  "model": {{ model_info.model_key | tojson }},
  "messages": [{"role": "user", "content": {{ input.messages[-1].content | upper | tojson }} }],
  "temperature": {{ input.temperature }}
}"""
OUTPUT = """{% set reply = body | fromjson %}
{"choices": [{"message": {"role": "assistant", "content": {{
  (model_info.task ~ ": " ~ reply.choices[0].message.content) | tojson
}} } }], "usage": {
  "num_prompt_tokens": {{ reply.usage.prompt_tokens }}, "num_completion_tokens": 2
}}"""


def test_a_users_templates_shape_both_ways(tmp_path: Path, fake_server: RunningServer):
    adapter = ModelAdapter.model_validate(
        {
            "key": "mine",
            "display_name": "Mine",
            "process_input": {"language": "jinja", "source_code": INPUT},
            "process_output": {"language": "jinja", "source_code": OUTPUT},
        }
    )
    url = fake_server.base_url + "/chat/completions"
    model = endpoint(url, adapter={"key": "mine"}, parameters={"temperature": 0.5})

    async def main() -> ModelOutput:
        async with service_of(tmp_path, model, adapters={"mine": adapter}) as service:
            return await asked(service, 'say "answer="x')

    output = asyncio.run(main())
    assert output_text(output.raw) == 'chat_completion: "X'
    assert (output.input_tokens, output.output_tokens) == (4, 2)


def test_the_model_is_known_to_both_templates():
    adapter = templates("{{ model_info | tojson }}", "{{ model_info | tojson }}")
    info = {"model_key": "lab-1", "task": "chat_completion", "modality": "text"}
    assert sent(adapter, "any") == info
    assert adapter.reply(b"any", INFO).raw == info


def test_a_template_that_writes_no_json_is_an_error_that_names_it():
    with pytest.raises(SampleError) as caught:
        templates("", "{{ body }}").reply(b"plain text", INFO)
    assert caught.value.error_class == "template"
    assert not isinstance(caught.value, CallFailure), "asking again would not mend the template"
    assert str(caught.value).startswith(
        "mine process_output: the rendered model output is no JSON: "
    )


@pytest.mark.parametrize("body", [b"\xff\xfe", b"", b"<html>", b"[]"])
def test_a_template_that_can_not_read_the_reply_is_an_error_that_names_it(body: bytes):
    with pytest.raises(SampleError, match="mine process_output") as caught:
        templates("", "{{ (body | fromjson).choices[0].text | tojson }}").reply(body, INFO)
    assert caught.value.error_class == "template"


def test_a_request_is_always_utf_8():
    body = templates("{{ input }}", "").request("half \ud800", INFO, {})
    assert body.decode() == "half \ufffd"


# the Responses API


def test_a_model_behind_the_responses_api_answers(tmp_path: Path, fake_server: RunningServer):
    model = endpoint(fake_server.base_url, adapter={"key": "latticeflow$openai_responses"})
    tool = {"type": "function", "name": "weather", "parameters": {"type": "object"}}

    async def main() -> tuple[ModelOutput, ModelOutput]:
        async with service_of(tmp_path, model) as service:
            return (
                await asked(service, "ANSWER=Paris", max_tokens=10),
                await asked(service, 'CALL weather {"city": "Bern"}', tools=[tool]),
            )

    answer, call = asyncio.run(main())
    assert output_text(answer.raw) == "Paris"
    assert (answer.finish_reason, answer.output_tokens) == ("stop", 2)
    assert call.finish_reason == "tool_calls"
    assert [(i["name"], i["arguments"]) for i in call.raw["items"]] == [
        ("weather", '{"city": "Bern"}')
    ]
    assert fake_server.stats()["paths"] == {"/v1/responses": 2}


def test_tools_of_chat_completions_make_items(tmp_path: Path, fake_server: RunningServer):
    tool = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}

    async def main() -> ModelOutput:
        async with service_of(tmp_path, endpoint(fake_server.base_url)) as service:
            return await asked(service, "CALL weather", tools=[tool])

    output = asyncio.run(main())
    assert [item["type"] for item in output.raw["items"]] == ["function_call"]


def test_an_unknown_adapter_is_a_definition_error(tmp_path: Path):
    async def main() -> None:
        model = endpoint("http://127.0.0.1:9/v1", adapter={"key": "mine"})
        async with service_of(tmp_path, model) as service:
            with pytest.raises(
                DefinitionError, match=r"model 'lab' uses adapter 'mine', .*; declare it under"
            ):
                await calls_of(service).predict("lab", {"messages": []})

    asyncio.run(main())
