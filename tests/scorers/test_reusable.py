import asyncio

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers import reusable
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.trace.evidence import SampleScore
from tasks_lib.trace.legacy import to_legacy
from tests.items import call
from tests.scorers.calls import answered, talked
from tests.scorers.rows import chat, row, solved

SNIPPET = """
from latticeflow.core.experimental.scorers import StringEquals

EQUALS = StringEquals(ground_truth="{{ sample.target }}")


async def compute_scores(sample, solver_output):
    score = await EQUALS.ascore(sample=sample, solver_output=solver_output)
    return {"scores": {"wrong": not score.values["is_correct"]}, "metadata": score.metadata}
"""


def test_a_python_scorer_reuses_a_built_in_one():
    scorer = PythonScorer(metrics=(), compute_scores_snippet=SNIPPET)
    score = scorer.score(row(solved(chat("Lyon"))))
    assert score.values == {"wrong": True}
    assert score.metadata == {"answer_gt": "Paris", "answer_pred": "Lyon"}


@pytest.mark.parametrize(
    ("scorer", "solver_output", "name"),
    [
        (reusable.StringEquals(ground_truth="x", value="x"), None, "is_correct"),
        (
            reusable.StringEqualsMCQA(ground_truth_choice="A", choices='["A", "B"]'),
            solved(chat("A")),
            "is_correct",
        ),
        (
            reusable.FunctionCallCoverage(function_calls='["a"]', mode="in_order"),
            talked(call("a")),
            "all_required_calls_made",
        ),
        (
            reusable.DisallowedFunctionCalls(function_calls=["b"]),
            talked(call("a")),
            "no_disallowed_calls_made",
        ),
        (
            reusable.FunctionCallOutputContains(function_name="a", pattern="x"),
            talked(*answered("a", "x")),
            "is_correct",
        ),
        (
            reusable.FunctionCallOutputNotContains(function_name="a", pattern="y"),
            talked(*answered("a", "x")),
            "is_correct",
        ),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "ascore") else "",
)
def test_each_gives_a_sample_score(scorer, solver_output, name):
    score = asyncio.run(scorer.ascore(sample={}, solver_output=solver_output))
    assert isinstance(score, SampleScore)
    assert score.values[name] is True
    assert isinstance(score.metadata, dict)


def test_the_older_message_format_is_refused_in_words():
    older = to_legacy(solved(chat("x")))
    with pytest.raises(SampleError, match=r"got a SingleSolverOutput .* open_responses"):
        asyncio.run(reusable.StringEquals(ground_truth="x").ascore(sample={}, solver_output=older))
