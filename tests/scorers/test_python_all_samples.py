import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers.python_all_samples import PythonAllSamplesScorer
from tasks_lib.scorers.score import Row
from tests.scorers.rows import chat, row, solved

UNIQUE = """
def compute_scores(samples):
    seen = [sample["target"] for sample in samples]
    return [{"unique": seen.count(target) == 1} for target in seen]
"""


def scorer(source: str) -> PythonAllSamplesScorer:
    return PythonAllSamplesScorer(metrics=(), compute_scores_snippet=source)


def returning(expression: str, parameters: str = "samples") -> PythonAllSamplesScorer:
    return scorer(f"def compute_scores({parameters}):\n    return {expression}\n")


def test_a_score_may_depend_on_the_other_rows():
    rows = [row(target="Paris"), row(target="Rome"), row(target="Paris")]
    scores = scorer(UNIQUE).score_all(rows)
    assert [score.values["unique"] for score in scores] == [False, True, False]


def test_a_second_parameter_gets_the_solver_outputs():
    source = returning(
        "[{'a': o.trace.get_last_assistant_text()} for o in outputs]", "samples, outputs"
    )
    scores = source.score_all([row(solved(said="x")), row(solved(said="y"))])
    assert [score.values for score in scores] == [{"a": "x"}, {"a": "y"}]


def test_several_datasets_come_as_one_list_each():
    rows = [Row({"left": {"v": 1}, "right": {"v": 2}}, None)] * 2
    source = returning("[{'a': x['v'] + y['v']} for x, y in zip(*samples.values())]")
    scores = source.score_all(rows, {"left": [{"v": 1}] * 2, "right": [{"v": 2}] * 2})
    assert [score.values for score in scores] == [{"a": 3}, {"a": 3}]


def test_either_form_of_score_and_the_mark_of_no_answer():
    scores = returning("[{'a': 1}, {'scores': {'a': 2}, 'metadata': {'m': 3}}]").score_all(
        [row(solved(chat(""))), row(solved(chat("Paris")))]
    )
    assert [score.values for score in scores] == [{"a": 1}, {"a": 2}]
    assert [score.metadata for score in scores] == [{"no_answer": "empty"}, {"m": 3}]


def test_no_rows_give_no_scores():
    assert returning("[]").score_all([]) == []


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("[{'a': 1}]", "compute_scores returned 1 entries for 2 samples"),
        ("{'a': 1}", "compute_scores returned {'a': 1}"),
        ("[{'a': 1}, 5]", "compute_scores()[1] returned 5 (int)"),
        ("[1 / 0]", "ZeroDivisionError: division by zero"),
    ],
    ids=["wrong length", "no list", "an entry that is no dict", "an exception"],
)
def test_a_failing_snippet_fails_all_rows(expression, problem):
    with pytest.raises(SampleError) as caught:
        returning(expression).score_all([row(), row()])
    assert (caught.value.error_class, caught.value.problem) == ("code", problem)
