"""Authors' own solvers."""

import asyncio
import json
from textwrap import dedent

import pytest
from pydantic import ValidationError

from tasks_lib.errors import SampleError, Stopped, StoreError
from tasks_lib.results.load import load_run
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BrokenOffError, SolverContext
from tasks_lib.trace import SolverTrace, message_item
from tests.items import call
from tests.solvers.scripted import Models, chat, conversation, items_output, solve, solver

FORM = {"type": "json_schema", "json_schema": {"name": "a", "strict": True}}


def snippet(source: str) -> dict[str, str]:
    return {"type": "python", "run_solver_snippet": dedent(source)}


def test_the_documented_way():
    models = Models(tested=["first", "second"])
    output = solve(
        snippet("""
            from latticeflow.core.dtypes import SolverTrace

            async def run_solver(sample, model, trace):
                assert isinstance(trace, SolverTrace) and trace.items == []
                trace.append_user_message(sample["question"])
                trace.add_model_response(await model.predict(trace.items))
                trace.append_user_message("And?")
                response = await model.predict(trace.items)
                trace.add_model_response(response)
                assert response.text == "second"
                return trace
            """),
        models,
        question="Why?",
    )
    assert conversation(output) == [
        ("user", "Why?"), ("assistant", "first"), ("user", "And?"), ("assistant", "second"),
    ]  # fmt: skip
    assert models.texts("tested") == [["Why?"], ["Why?", "first", "And?"]]
    assert output.raw_outputs_json == [chat("first").raw, chat("second").raw]


def test_nothing_is_appended_unasked():
    output = solve(
        snippet("""
            async def run_solver(sample, model, trace):
                await model.predict([{"role": "user", "content": "x"}])
                return trace
            """),
        Models(tested=["a"]),
    )
    assert output.trace.raw_items == []
    assert output.raw_outputs_json == []


@pytest.mark.parametrize(
    ("inputs", "sent"),
    [
        pytest.param("trace.items", {"messages": [{"role": "user", "content": "x"}]}, id="items"),
        pytest.param(
            '{"messages": [{"role": "user", "content": "x"}]}',
            {"messages": [{"role": "user", "content": "x"}]},
            id="a chat input",
        ),
        pytest.param(
            "ChatCompletionInput(messages=[ChatCompletionInputMessage(role='user', content='x')])",
            {"messages": [{"role": "user", "content": "x"}]},
            id="a typed chat input",
        ),
        pytest.param(
            '[{"role": "user", "content": "x"}]',
            {"messages": [{"role": "user", "content": "x"}]},
            id="chat messages",
        ),
        pytest.param('{"query": [1]}', {"query": [1]}, id="an object of a custom model"),
        pytest.param('["a", "b"]', ["a", "b"], id="texts to embed"),
        pytest.param('"text"', "text", id="plain text"),
        pytest.param("[]", {"messages": []}, id="nothing"),
    ],
)
def test_what_predict_takes(inputs, sent):
    models = Models(tested=["a"])
    solve(
        snippet(f"""
            from latticeflow.core.dtypes import ChatCompletionInput, ChatCompletionInputMessage

            async def run_solver(sample, model, trace):
                trace.append_user_message("x")
                await model.predict({inputs})
                return trace
            """),
        models,
    )
    assert models.asked == [("tested", sent, False)]


def test_options_are_added_to_a_chat_input():
    models = Models(tested=["a"])
    solve(
        snippet(f"""
            async def run_solver(sample, model, trace):
                await model.predict([], response_format={FORM!r}, temperature=0)
                return trace
            """),
        models,
    )
    sent = {"messages": [], "response_format": FORM, "temperature": 0}
    assert models.asked == [("tested", sent, False)]


def test_another_trace_may_be_returned():
    output = solve(
        snippet("""
            from latticeflow.core.dtypes import SolverTrace, Trace

            async def run_solver(sample, model, trace):
                other = SolverTrace(trace=Trace(items=[]), raw_outputs=[])
                other.append_system_message("mine")
                return other
            """)
    )
    assert conversation(output) == [("system", "mine")]


@pytest.mark.parametrize(
    ("returned", "named"), [("None", "NoneType"), ("'text'", "str"), ("trace.trace", "Trace")]
)
def test_returning_anything_else_is_an_error(returned, named):
    source = f"async def run_solver(sample, model, trace): return {returned}"
    with pytest.raises(SampleError, match=f"returned {named}, not a SolverTrace") as error:
        solve(snippet(source))
    assert error.value.error_class == "code"


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("def run_solver(sample, model, trace): return trace", id="a plain function"),
        pytest.param(
            """
            def run_solver(sample, model, trace):
                async def later():
                    trace.add_model_response(await model.predict(trace.items))
                    return trace
                return later()
            """,
            id="one that returns a coroutine",
        ),
        pytest.param(
            """
            import asyncio

            def run_solver(sample, model, trace):
                trace.add_model_response(asyncio.run(model.predict(trace.items)))
                return trace
            """,
            id="one with a loop of its own",
        ),
    ],
)
def test_plain_functions_do(source):
    assert isinstance(solve(snippet(source), Models(tested=["a"])), SolverTrace)


def test_errors_of_predict_may_be_caught():
    output = solve(
        snippet("""
            async def run_solver(sample, model, trace):
                try:
                    await model.predict(trace.items)
                except Exception:
                    trace.append_system_message("no answer")
                return trace
            """),
        Models(tested=[SampleError("infra", "HTTP 500")]),
    )
    assert conversation(output) == [("system", "no answer")]


def test_uncaught_errors_of_predict_keep_their_class():
    with pytest.raises(SampleError, match="HTTP 500") as error:
        solve(
            snippet("async def run_solver(sample, model, trace): await model.predict([])"),
            Models(tested=[SampleError("infra", "HTTP 500")]),
        )
    assert error.value.error_class == "infra"


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_calls_without_end_are_ended(monkeypatch, isolation):
    monkeypatch.setattr("tasks_lib.solvers.python.MAX_CALLS", 20)
    source = """
        async def run_solver(sample, model, trace):
            while True:
                await model.predict(trace.items)
        """
    models = Models(tested=["a"] * 25)
    with pytest.raises(SampleError, match="run_solver makes more than 20 calls") as error:
        solve({**snippet(source), "isolation": isolation}, models)
    assert error.value.error_class == "code"


def test_other_errors_are_the_authors():
    with pytest.raises(SampleError, match="KeyError: 'nope'") as error:
        solve(snippet("async def run_solver(sample, model, trace): return sample['nope']"))
    assert error.value.error_class == "code"


def test_what_was_said_before_an_error_is_kept_with_it():
    source = """
        async def run_solver(sample, model, trace):
            trace.append_user_message("x")
            trace.add_model_response(await model.predict(trace.items))
            return trace.nope
        """
    with pytest.raises(BrokenOffError, match="nope") as error:
        solve(snippet(source), Models(tested=["a"]))
    assert conversation(error.value.output) == [("user", "x"), ("assistant", "a")]


@pytest.mark.parametrize("end", [Stopped(), StoreError("disk full")])
@pytest.mark.parametrize("after", ["return trace", "raise ValueError('no reply')"])
def test_the_end_of_a_run_can_not_be_caught(end, after):
    source = f"""
        async def run_solver(sample, model, trace):
            try:
                await model.predict(trace.items)
            except Exception:
                pass
            {after}
        """
    with pytest.raises(type(end)):
        solve(snippet(source), Models(tested=[end]))


def test_the_sample_is_the_authors_own_copy():
    changing = solver(
        snippet("""
            async def run_solver(sample, model, trace):
                sample["tags"].append("seen")
                sample["new"] = 1
                return trace
            """)
    )
    sample = Sample("s", 0, {"tags": ["a"]})
    asyncio.run(changing.solve(sample, SolverContext("tested", Models())))
    assert sample.data == {"tags": ["a"]}


def test_samples_of_several_datasets_come_by_name():
    output = solve(
        snippet("""
            async def run_solver(sample, model, trace):
                trace.append_user_message(sample["left"]["q"] + sample["right"]["q"])
                return trace
            """),
        left={"q": "a"},
        right={"q": "b"},
    )
    assert conversation(output) == [("user", "ab")]


def test_tool_calls_are_items():
    output = solve(
        snippet("""
            from latticeflow.core.dtypes import FunctionCallOutput

            async def run_solver(sample, model, trace):
                trace.append_user_message("x")
                response = await model.predict(trace.items)
                trace.add_model_response(response)
                for call in trace.trace.function_calls:
                    trace.append(FunctionCallOutput(
                        id="", call_id=call.call_id, output="42", status="completed"))
                trace.add_model_response(await model.predict(trace.items))
                return trace
            """),
        Models(tested=[items_output(call()), items_output(message_item("assistant", "42"))]),
    )
    assert [item["type"] for item in output.trace.raw_items] == [
        "message", "function_call", "function_call_output", "message",
    ]  # fmt: skip
    assert output.output.choices[0].message.content == "42"


@pytest.mark.parametrize(
    ("source", "complaint"),
    [
        ("async def solve(sample, model, trace): ...", "define 'run_solver'"),
        ("async def run_solver(:", "not Python"),
    ],
)
def test_a_bad_snippet_is_refused(source, complaint):
    with pytest.raises(ValidationError, match=complaint):
        solver(snippet(source))


def test_it_has_no_message_format():
    with pytest.raises(ValidationError, match="message_format"):
        solver({**snippet("def run_solver(): ..."), "message_format": "open_responses"})


def test_a_trace_that_is_no_json_fails_its_sample_alone(evalmill, write_files):
    """Its row says what the author did wrong, whether the snippet ended or failed."""
    source = """
        async def run_solver(sample, model, trace):
            trace.append_custom_task_input_message(object() if sample["bad"] else "fine")
            return trace if sample["bad"] != 2 else trace.nope
        """
    task = {
        "key": "t", "display_name": "T", "description": "D",
        "definition": {"dataset": {"key": "rows"}, "solver": snippet(source), "scorers": []},
    }  # fmt: skip
    rows = {"key": "rows", "display_name": "R"}
    run = {
        "models": [
            {"key": "m", "display_name": "M", "config": {"connection_type": "mock", "default": ""}}
        ],
        "datasets": [{**rows, "source": {"type": "local", "file_path": "rows.jsonl"}}],
        "tasks": [task],
        "evaluation": {
            "key": "e", "display_name": "E",
            "task_specifications": [{"key": "s", "task_key": "t", "model_key": "m"}],
        },
    }  # fmt: skip
    lines = "".join(f'{{"bad": {bad}}}\n' for bad in range(3))
    folder = write_files({"run.json": json.dumps(run), "rows.jsonl": lines})
    done = evalmill("run", folder / "run.json", "--json", "--no-prefect")
    assert done.exit_code == 3, done.stderr
    samples = load_run(done.json["run_id"], evalmill.store).samples()
    assert list(samples["status"]) == ["ok", "error", "error"]
    assert list(samples["error_class"])[1:] == ["code", "code"]
    assert "nope" in samples["error_message"][2]
