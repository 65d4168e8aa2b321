"""Postprocessors: one solved sample becomes any number of rows."""

import asyncio
import json

import pytest

from tasks_lib import compat
from tasks_lib.errors import SampleError
from tasks_lib.solvers.postprocessing import PythonPostprocessor
from tasks_lib.trace import SolverTrace, Trace, message_item
from tasks_lib.trace.legacy import to_legacy
from tests.engine import ASK, python_scorer, saying

LINES = """
def postprocess(sample, solver_output):
    from latticeflow.core.dtypes import SolverTrace
    rows = []
    for line in solver_output.output.choices[0].message.content.split():
        trace = SolverTrace()
        trace.append_user_message(sample["q"])
        trace.extend([{"type": "message", "role": "assistant", "id": "", "status": "completed",
                       "content": [{"type": "output_text", "text": line, "annotations": []}]}])
        rows.append(({"a": sample["a"], "line": line}, trace))
    return rows
"""


def postprocessor(source):
    return PythonPostprocessor(type="python", postprocess_snippet=source)


def post(source):
    return {"type": "python", "postprocess_snippet": source}


def returning(expression, head="def"):
    return f"{head} postprocess(sample, solver_output):\n    return {expression}\n"


def solved(*texts):
    items = [message_item("user", "?"), *(message_item("assistant", text) for text in texts)]
    raw = [{"choices": [{"message": {"role": "assistant", "content": texts[-1]}}]}]
    return SolverTrace(Trace(items=items), raw_outputs=raw)


def derived(source, output, sample=None, shown=None):
    """The rows that a snippet makes of a sample, in this thread."""
    made = postprocessor(source)
    return made.derive_now({} if sample is None else sample, output, shown or output)


@pytest.mark.parametrize("head", ["def", "async def"])
@pytest.mark.parametrize("way", ["on the loop", "in this thread"])
def test_each_pair_becomes_a_row(head, way):
    made = postprocessor(returning("[(sample, solver_output)] * 2", head))
    output = solved("x")
    if way == "on the loop":
        rows = asyncio.run(made.derive({"n": 1}, output, output))
    else:
        rows = made.derive_now({"n": 1}, output, output)
    assert [(row.sample, row.output) for row in rows] == [({"n": 1}, output)] * 2


def test_no_pairs_are_no_rows():
    assert derived(returning("[]"), solved("x")) == []


def test_the_snippet_gets_a_sample_of_its_own():
    sample = {"deep": [1]}
    source = """
def postprocess(sample, solver_output):
    sample["deep"].append(2)
    return [(sample, solver_output)]
"""
    (row,) = derived(source, solved("x"), sample)
    assert (sample, row.sample) == ({"deep": [1]}, {"deep": [1, 2]})


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        pytest.param("None", "returned NoneType, not a list", id="nothing"),
        pytest.param("[sample]", "entry 0 is no (sample, solver_output) pair", id="no pair"),
        pytest.param("[(sample, solver_output), (sample, 'x')]", "entry 1 is no", id="no output"),
        pytest.param("[('x', solver_output)]", "entry 0 is no", id="no sample"),
        pytest.param("1 / 0", "ZeroDivisionError", id="an exception"),
    ],
)
def test_anything_else_is_an_error_of_code(expression, complaint):
    with pytest.raises(SampleError) as caught:
        derived(returning(expression), solved("x"))
    assert complaint in caught.value.problem
    assert caught.value.error_class == "code"


LEGACY = """
from latticeflow.core.dtypes import SingleSolverOutput

def postprocess(sample, solver_output):
    assert isinstance(solver_output, SingleSolverOutput)
    return [
        (sample, solver_output),
        (sample, SingleSolverOutput(messages=solver_output.messages[:1], output=None)),
    ]
"""


def test_outputs_in_the_older_form_are_seen_and_returned():
    compat.install()
    output = solved("x", "y")
    whole, cut = derived(LEGACY, output, shown=to_legacy(output))
    assert whole.output is output
    assert [item["role"] for item in cut.output.trace.raw_items] == ["user"]
    assert cut.output.raw_outputs_json == []


def test_an_older_form_that_was_changed_is_stored_as_changed():
    compat.install()
    source = """
def postprocess(sample, solver_output):
    solver_output.messages[-1].content = "changed"
    return [(sample, solver_output)]
"""
    (row,) = derived(source, solved("x"), shown=to_legacy(solved("x")))
    assert row.output.trace.get_last_assistant_text() == "changed"


TASK = {
    "dataset": {"key": "qa"},
    "solver": {**ASK, "postprocessor": post(LINES)},
    "scorers": [
        python_scorer(
            "def compute_scores(sample, solver_output):\n"
            "    text = solver_output.trace.get_last_assistant_text()\n"
            "    return {'same': text == sample['line'], 'right': text == sample['a']}",
            "same",
            "right",
        )
    ],
}
DATA = [{"q": "?", "a": "x"}, {"q": "!", "a": "x"}, {"q": ".", "a": "x"}]


def test_rows_are_scored_by_themselves_under_ids_of_their_own(engine):
    """N rows of a sample are `<id>#<index>`; exactly one keeps the sample's id."""
    ran = engine.run(TASK, DATA, models=[saying(["x y x"], ["x"], ["  "])])
    scores = ran.run.scores()
    assert list(scores["sample_id"]) == ["0#0", "0#1", "0#2", "1"]
    assert list(scores["row"]) == [0, 1, 2, 0]
    assert ran.values == {"same": 1.0, "right": 0.75}
    samples = ran.run.samples()
    assert json.loads(samples["sample"][1]) == {"a": "x", "line": "y"}
    assert list(samples["output_text"]) == ["x", "y", "x", "x"]
    assert (ran.spec["n_samples"], ran.spec["n_rows"]) == (3, 4)


def test_calls_are_counted_once_by_the_first_row(engine):
    samples = engine.run(TASK, DATA[:1], models=[saying(["x y x"])]).run.samples()
    assert list(samples["calls"]) == [1, 0, 0]
    assert list(samples["output_tokens"] > 0) == [True, False, False]


def test_an_error_is_the_original_samples_solver_error(engine):
    task = {**TASK, "solver": {**ASK, "postprocessor": post(returning("sample['gone']"))}}
    ran = engine.run(task, DATA[:2], models=[saying(default="x")])
    samples = ran.run.samples()
    assert list(samples["sample_id"]) == ["0", "1"]
    assert set(samples["error_stage"]) == {"solver"}
    assert set(samples["error_class"]) == {"code"}
    assert ran.result["exit_code"] == 3
    assert ran.run.record["calls"]["total"] == 2


def test_rows_that_can_not_be_stored_are_one_error_and_one_solved_sample(engine):
    unstorable = post(returning("[({'x': {1}}, solver_output)]"))
    task = {**TASK, "solver": {**ASK, "postprocessor": unstorable}}
    ran = engine.run(task, DATA[:1], models=[saying(default="x")])
    (message,) = ran.run.samples()["error_message"]
    assert message.startswith("TypeError")


def test_a_truncated_reply_is_counted_once_however_many_rows_are_made_of_it(engine):
    rule = {"sample_id": "0", "reply": "x y z", "finish_reason": "length"}
    ran = engine.run(TASK, DATA[:2], models=[saying(rule, ["x"])])
    assert any("1 of 2 replies truncated" in words for words in ran.result["warnings"])


@pytest.mark.parametrize(
    "solver",
    [
        pytest.param(ASK, id="single_turn_solver"),
        pytest.param(
            {
                "type": "multi_turn_solver",
                "message_builders": [
                    {"type": "chat_message", "role": "user", "content": "{{ sample.q }}"},
                    {"type": "generate"},
                ],
            },
            id="multi_turn_solver",
        ),
        pytest.param(
            {
                "type": "python",
                "run_solver_snippet": "async def run_solver(sample, model, trace):\n"
                "    trace.append_user_message(sample['q'])\n"
                "    trace.add_model_response(await model.predict(trace.items))\n"
                "    return trace\n",
            },
            id="python",
        ),
        pytest.param(
            {"type": "pass_through_solver", "trace_column": "t"}, id="pass_through_solver"
        ),
    ],
)
@pytest.mark.parametrize("head", ["def", "async def"])
def test_every_solver_may_have_one(engine, solver, head):
    trace = {"items": [message_item("user", "?"), message_item("assistant", "x y")]}
    source = LINES.replace("def postprocess", f"{head} postprocess")
    task = {**TASK, "solver": {**solver, "postprocessor": post(source)}}
    ran = engine.run(task, [{**DATA[0], "t": trace}], models=[saying(["x y"])])
    assert ran.values == {"same": 1.0, "right": 0.5}


def test_scorers_see_the_older_form_of_what_a_postprocessor_made(engine):
    solver = {**ASK, "message_format": "latticeflow", "postprocessor": post(LEGACY)}
    scorer = python_scorer(
        "def compute_scores(sample, solver_output):\n"
        "    return {'messages': len(solver_output.messages),"
        " 'replied': solver_output.output is not None}",
        "messages",
        "replied",
    )
    ran = engine.run(
        {**TASK, "solver": solver, "scorers": [scorer]}, DATA[:1], models=[saying("x")]
    )
    assert ran.values == {"messages": 1.5, "replied": 0.5}


@pytest.mark.parametrize("trials", [1, 2])
def test_rescoring_equals_a_fresh_run(engine, trials):
    model = saying(["x y", "x x"], ["x", "y"], ["", ""])
    more = {"models": [model], "specification": {"trials": {"num_trials": trials}}}
    first = engine.run(TASK, DATA, **more)
    again = engine.run(rescore=first)
    assert again.result["metrics"] == first.result["metrics"]
    assert engine.requests(again) == 0
    columns = ["sample_id", "trial", "row", "status", "same", "right"]
    assert again.run.scores()[columns].equals(first.run.scores()[columns])
    assert again.spec["num_trials"] == trials


def test_with_trials_it_runs_per_trial_and_rows_are_matched_by_position(engine):
    task = {**TASK, "trials": {"num_trials": 2}}
    ran = engine.run(task, DATA[:1], models=[saying(["x y", "y x"])])
    aggregates = ran.aggregates()
    assert list(aggregates["sample_id"]) == ["0#0", "0#1"]
    assert list(aggregates["right"]) == [0.5, 0.5]
    assert ran.spec["n_rows"] == 4


@pytest.mark.parametrize("said", [["x", "x y"], ["x y", "x"], ["x y", " "], [" ", "x y"]])
def test_different_numbers_of_rows_are_an_error(engine, said):
    task = {**TASK, "trials": {"num_trials": 2}}
    ran = engine.run(task, DATA[:2], models=[saying(said, ["x", "x"])])
    errors = ran.aggregates()[ran.aggregates()["status"] == "error"]
    assert list(errors["sample_id"]) == ["0#0", "0#1"]
    assert "the trials made different numbers of rows: " in errors["error_message"].iloc[0]
    assert ran.values == {"same": 1.0, "right": 1.0}
    assert ran.metrics["right"]["n_error"] == 2
    assert ran.spec["n_error"] == ran.spec["n_rows"] - 2
    assert ran.result["exit_code"] == 3
