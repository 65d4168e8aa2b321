import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import SampleError
from tasks_lib.scorers.function_call_coverage import FunctionCallCoverage
from tasks_lib.scorers.score import Score
from tests.items import call
from tests.scorers.calls import talked
from tests.scorers.rows import row

A_X1 = {"name": "a", "arguments": {"x": 1}}


def scored(required: list, made: list, mode: str = "any_order") -> Score:
    scorer = FunctionCallCoverage(function_calls="{{ sample.required }}", mode=mode)
    calls = [call(one) if isinstance(one, str) else call(*one) for one in made]
    return scorer.score(row(talked(*calls), required=required))


@pytest.mark.parametrize(
    ("required", "made", "mode", "all_made", "coverage", "n_made", "n_unrequired"),
    [
        (["a", "b"], ["b", "a"], "in_order", False, 1.0, 2, 0),
        (["a", "b"], ["b", "a"], "any_order", True, 1.0, 2, 0),
        (["a", "b"], ["a", "c", "b"], "in_order", True, 1.0, 2, 1),
        (["a", "a"], ["a"], "any_order", False, 0.5, 1, 0),
        (["a"], ["a", "a"], "any_order", True, 1.0, 1, 1),
        ([], [], "any_order", True, 1.0, 0, 0),
        ([], ["a"], "in_order", True, 1.0, 0, 1),
        (["a", A_X1], [("a", {"x": 1}), ("a", {"x": 2})], "any_order", True, 1.0, 2, 0),
        (["a", A_X1], [("a", {"x": 1}), ("a", {"x": 2})], "in_order", False, 1.0, 2, 0),
        ([A_X1], [("a", {"x": 2})], "any_order", False, 0.0, 0, 1),
        ([A_X1], [("a", "not JSON")], "any_order", False, 0.0, 0, 1),
        (["a"], [("a", "not JSON")], "any_order", True, 1.0, 1, 0),
        (["a", "b", "c"], ["a"], "in_order", False, 1 / 3, 1, 0),
        (["a"], ["A"], "any_order", False, 0.0, 0, 1),
    ],
    ids=[
        "in another order",
        "in any order",
        "in order with another between them",
        "twice required, once made",
        "once required, twice made",
        "nothing required",
        "nothing required, something made",
        "the one with arguments chooses first",
        "but in order it comes too late",
        "other arguments",
        "unreadable arguments",
        "unreadable arguments for a bare name",
        "some not made",
        "names keep their case",
    ],
)
def test_scores(required, made, mode, all_made, coverage, n_made, n_unrequired):
    assert scored(required, made, mode).values == {
        "all_required_calls_made": all_made,
        "required_calls_coverage": pytest.approx(coverage),
        "num_required_calls_made": n_made,
        "num_required_calls_not_made": len(required) - n_made,
        "num_unrequired_calls": n_unrequired,
        "num_required_calls_total": len(required),
    }


def test_what_was_required_and_called_is_kept():
    score = scored(["b", A_X1], [("a", {"x": 1}), ("c", "not JSON")])
    assert score.metadata == {
        "required_function_calls": [{"name": "b", "arguments": None}, A_X1],
        "called_function_calls": [A_X1, {"name": "c", "arguments": None}],
        "matched_required": [A_X1],
        "unmatched_required": [{"name": "b", "arguments": None}],
    }


def test_without_a_solver_the_row_is_an_error_naming_the_format():
    with pytest.raises(SampleError, match="open_responses"):
        FunctionCallCoverage(function_calls='["a"]').score(row())


NAMES = st.lists(st.sampled_from(["a", "b", "c"]), max_size=6)


@given(NAMES, NAMES)
def test_counts_add_up_and_an_order_kept_means_all_made(required, made):
    free = scored(required, made).values
    ordered = scored(required, made, "in_order").values
    made_or_not = free["num_required_calls_made"] + free["num_required_calls_not_made"]
    assert made_or_not == free["num_required_calls_total"] == len(required)
    assert free["num_required_calls_made"] + free["num_unrequired_calls"] == len(made)
    assert free["all_required_calls_made"] or not ordered["all_required_calls_made"]
    assert scored(required, required, "in_order").values["all_required_calls_made"]
