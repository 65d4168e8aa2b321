import subprocess
import sys

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import SandboxedEnvironment

from tasks_lib import compat
from tasks_lib.compat import dtypes
from tasks_lib.trace import SolverTrace, Trace, message_item

NAMES = [
    "Trace",
    "TraceMetadata",
    "TraceItem",
    "TraceFormat",
    "Turn",
    "Message",
    "AssistantMessage",
    "UserMessage",
    "SystemMessage",
    "MessageRole",
    "MessageStatus",
    "InputTextContent",
    "OutputTextContent",
    "ReasoningTextContent",
    "SummaryTextContent",
    "RefusalContent",
    "InputImageContent",
    "InputFileContent",
    "FunctionCall",
    "FunctionCallOutput",
    "FunctionCallStatus",
    "FunctionCallOutputStatusEnum",
    "CustomTaskInputMessage",
    "CustomTaskOutputMessage",
    "ModelResponse",
    "ModelUsage",
    "SolverOutput",
    "SolverTrace",
    "SingleSolverOutput",
    "GroupedSolverOutput",
    "GroupedSolverTrace",
    "ChatCompletionInput",
    "ChatCompletionInputMessage",
    "ChatCompletionOutputMessage",
    "ChatCompletionModelOutput",
    "ChatCompletionModelOutputChoice",
    "ChatCompletionResponseFormatJSONSchema",
    "ChatCompletionJSONSchema",
    "RAGCompletionOutput",
    "RAGCompletionModelOutputChoice",
    "RAGReference",
    "EmbeddingsModelOutput",
    "OpenResponsesModelOutput",
    "RawSample",
    "SampleScore",
    "MetricValues",
    "ScoresData",
    "SampleEvidence",
    "TaskResultEvidence",
    "TaskResultLog",
    "TaskResultError",
    "SYNTHETIC_MESSAGE_STATUS",
    "MessageEvent",
    "FunctionCallEvent",
    "ModelCallEvent",
    "SpanBeginEvent",
    "SpanEndEvent",
    "CompactionEvent",
    "ErrorEvent",
    "CustomEvent",
]


@pytest.mark.parametrize("name", NAMES)
def test_every_name_that_snippets_import_is_there(name):
    assert getattr(dtypes, name) is not None


@pytest.mark.parametrize(
    "statement",
    [
        "from latticeflow.core.dtypes import Trace",
        "from latticeflow.assessment.dtypes import Trace",
        "from latticeflow.bindings.open_responses.models import FunctionCall as Trace",
        "import latticeflow.core.dtypes; Trace = latticeflow.core.dtypes.Trace",
        "from latticeflow.core import dtypes; Trace = dtypes.Trace",
    ],
)
def test_the_import_names_work_in_a_fresh_process(statement):
    code = f"from tasks_lib import compat; compat.install(); compat.install(); {statement}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


SNIPPET = """
from __future__ import annotations

from latticeflow.core.dtypes import (
    Message, MessageRole, MessageStatus, ModelResponse, OutputTextContent, SolverTrace, Trace,
)


def postprocess(sample, solver_output):
    answers = solver_output.output.choices[0].message.content.split("---")
    rows = []
    for question, answer in zip(sample["questions"], answers):
        trace = SolverTrace(trace=Trace.from_items([]), raw_outputs=[])
        trace.append_user_message(question)
        trace.add_model_response(
            ModelResponse(
                raw_output={"choices": [{"message": {"role": "assistant", "content": answer}}]},
                items=[
                    Message(
                        id="",
                        status=MessageStatus.completed,
                        role=MessageRole.assistant,
                        content=[OutputTextContent(text=answer, annotations=[])],
                    )
                ],
            )
        )
        rows.append(({"question": question}, trace))
    return rows
"""


def test_a_snippet_that_builds_traces_runs():
    compat.install()
    namespace = {}
    exec(SNIPPET, namespace)
    raw = {"choices": [{"message": {"role": "assistant", "content": "1---2"}}]}
    rows = namespace["postprocess"](
        {"questions": ["a", "b"]}, SolverTrace(Trace.from_items([]), [raw])
    )
    assert [trace.trace.get_last_assistant_text() for _, trace in rows] == ["1", "2"]
    assert rows[1][1].trace.raw_items == [message_item("user", "b"), message_item("assistant", "2")]


CALL = {
    "type": "function_call",
    "call_id": "c",
    "name": "search",
    "arguments": {"q": "x"},
}
TEMPLATES = [
    pytest.param("{{ trace.function_calls[0].name }}", "search", id="attributes of a call"),
    pytest.param(
        "{{ trace.get_function_call_arguments(trace.function_calls[0]).q }}", "x", id="arguments"
    ),
    pytest.param(
        "{% for turn in trace.turns %}{{ turn.user_message.content }}{% endfor %}",
        "hello",
        id="content printed as text",
    ),
    pytest.param("{{ 'ell' in trace.items[0].content }}", "True", id="text looked for in content"),
    pytest.param("{{ trace.items[0]['role'] }}", "user", id="brackets"),
    pytest.param("{{ solver_output.messages[0].content }}", "hello", id="messages by attribute"),
    pytest.param("{{ solver_output.messages[0]['role'] }}", "user", id="messages by bracket"),
    pytest.param(
        "{{ solver_output.output.choices[0].message.content }}", "raw", id="the last output"
    ),
    pytest.param("{{ trace.items[0].session_id is defined }}", "False", id="absent keys"),
    pytest.param("{{ trace.get_last_assistant_text() }}", "bye", id="methods"),
]


@pytest.mark.parametrize(("template", "text"), TEMPLATES)
def test_sandboxed_templates_read_traces(template, text):
    chat = [{"role": "user", "content": "hello"}, CALL, {"role": "assistant", "content": "bye"}]
    raw = {"choices": [{"message": {"role": "assistant", "content": "raw"}}]}
    trace = Trace.load(chat)
    environment = SandboxedEnvironment(undefined=StrictUndefined)
    rendered = environment.from_string(template).render(
        trace=trace, solver_output=SolverTrace(trace, [raw])
    )
    assert rendered == text


def test_typed_conversions_take_and_give_typed_objects():
    output = dtypes.ChatCompletionModelOutput(
        choices=[{"message": {"role": "assistant", "content": "a"}}]
    )
    (item,) = dtypes.model_output_to_items(output)
    assert isinstance(item, dtypes.AssistantMessage)
    assert dtypes.model_output_to_message(output).content == "a"
    assert dtypes.model_output_to_message({"embeddings": [[1.0]]}) == [[1.0]]
    chat = dtypes.ChatCompletionInput(messages=[{"role": "user", "content": "q"}])
    items = dtypes.model_input_to_items(chat)
    assert dtypes.items_to_chat_messages(items)[0].content == "q"
    assert isinstance(dtypes.items_to_model_input(items), dtypes.ChatCompletionInput)
    assert dtypes.items_to_model_input(dtypes.model_input_to_items([1])) == [1]
    assert isinstance(dtypes.load_model_output({"choices": []}), dtypes.ChatCompletionModelOutput)
