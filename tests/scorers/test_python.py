import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import SampleError
from tasks_lib.metrics.mean import Mean
from tasks_lib.scorers import Scorer
from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.score import Row
from tasks_lib.trace.legacy import to_legacy
from tests.scorers.rows import chat, row, solved


def scorer(parameters: str, body: str, kind: str = "def") -> PythonScorer:
    source = f"{kind} compute_scores({parameters}):\n    {body}\n"
    return PythonScorer(metrics=(), compute_scores_snippet=source)


def test_a_function_of_the_sample_alone():
    score = scorer("sample", "return {'length': len(sample['target'])}").score(row())
    assert (score.values, score.metadata) == ({"length": 5}, None)


def test_a_function_of_sample_and_solver_output():
    body = "return {'said': solver_output.trace.get_last_assistant_text() == sample['target']}"
    score = scorer("sample, solver_output", body).score(row(solved(said="Paris")))
    assert score.values == {"said": True}


def test_a_function_of_the_sample_alone_works_in_a_model_task():
    assert scorer("sample", "return {'a': 1}").score(row(solved(said="x"))).values == {"a": 1}


def test_without_a_solver_the_output_is_none():
    body = "return {'dataset_task': solver_output is None}"
    assert scorer("sample, solver_output", body).score(row()).values == {"dataset_task": True}


def test_scores_and_metadata():
    score = scorer("sample", "return {'scores': {'a': 1.5}, 'metadata': {'why': 'x'}}").score(row())
    assert (score.values, score.metadata) == ({"a": 1.5}, {"why": "x"})


def test_an_async_function_is_awaited():
    body = "import asyncio; await asyncio.sleep(0); return {'a': True}"
    assert scorer("sample", body, "async def").score(row()).values == {"a": True}


def test_br_031_no_answer_is_marked_here_too():
    score = scorer("sample", "return {'a': 0}").score(row(solved(chat(""))))
    assert score.metadata == {"no_answer": "empty"}


def test_a_snippet_that_changes_its_sample_changes_it_for_itself_alone():
    one = row(near=["Lyon"])
    scorer("sample", "return {'a': sample.pop('target'), 'b': sample['near'].pop()}").score(one)
    assert one.sample == {"target": "Paris", "near": ["Lyon"]}


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return 1 / 0", "ZeroDivisionError"),
        ("return True", "compute_scores returned True"),
        ("return {'a': object}", "compute_scores.a is"),
    ],
    ids=["an exception", "no dict", "no JSON"],
)
def test_a_failing_snippet_fails_this_row(body, problem):
    with pytest.raises(SampleError, match=problem) as caught:
        scorer("sample", body).score(row())
    assert caught.value.error_class == "code"


def test_metrics_are_required_and_may_be_empty():
    source = "def compute_scores(sample): return {}"
    assert PythonScorer(metrics=(), compute_scores_snippet=source).keyed_metrics() == {}
    with pytest.raises(ValidationError, match="metrics"):
        TypeAdapter[Scorer](Scorer).validate_python(
            {"type": "python", "compute_scores_snippet": source}
        )


def test_metrics_get_different_keys():
    named = PythonScorer(
        metrics=(Mean(field="a"), Mean(field="b", key="mean_a_2"), *[Mean(field="a")] * 2),
        compute_scores_snippet="def compute_scores(sample): return {}",
    )
    assert list(named.keyed_metrics()) == ["mean_a", "mean_a_2", "mean_a_3", "mean_a_4"]


def test_legacy_message_format_shows_the_older_form_to_the_snippet_alone():
    body = "return {'older': type(solver_output).__name__ == 'SingleSolverOutput'}"
    one = Row({}, solved(chat(""), said=""), to_legacy)
    score = scorer("sample, solver_output", body).score(one)
    assert score.values == {"older": True}
    assert score.metadata == {"no_answer": "empty"}
