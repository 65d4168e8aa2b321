import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.mean import Mean
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tasks_lib.metrics.weighted_average import WeightedAverage
from tests.metrics.tables import listed, mixed, stored

WEIGHTS = {"good": 1.0, "fair": 0.5, "bad": -1.0}


def average(table: ScoreTable, weights: dict[str, float] = WEIGHTS) -> MetricValue:
    (value,) = WeightedAverage(field="x", weights=weights).compute(table)
    return value


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
@pytest.mark.parametrize(
    ("labels", "weights", "expected"),
    [
        (["good", "good", "fair", "bad"], WEIGHTS, 0.375),
        (["good", "good"], {"good": 3.0, "bad": 1.0}, 3.0),
        ([True, False, True, True], {"True": 1, "False": -1}, 0.5),
        ([1.0, 2.0, 2.0], {"1": 0.3, "2": 0.6}, 0.5),
        (["good", None], WEIGHTS, 1.0),
        (["good", None], {**WEIGHTS, "None": 0}, 0.5),
    ],
    ids=[
        "over the number of rows",
        "not over the sum of the weights",
        "booleans by their text",
        "whole numbers by their text",
        "null is left out",
        "null counts where None has a weight",
    ],
)
def test_value(make, labels, weights, expected):
    value = average(make(labels), weights)
    assert value.value == pytest.approx(expected)
    assert value.name == "x_weighted_average"


def test_it_is_the_mean_of_the_weights_with_its_interval_cut_at_the_weights():
    labels = ["good", "fair", "bad", "good", "fair"]
    (mean,) = Mean(field="x").compute(stored([WEIGHTS[label] for label in labels]))
    value = average(stored(labels))
    assert (value.stderr, value.ci_low, value.ci_high) == pytest.approx(
        (mean.stderr, mean.ci_low, min(mean.ci_high, max(WEIGHTS.values())))
    )
    assert mean.ci_high > value.ci_high
    assert (value.ci_method, value.n) == ("t", 5)


def test_unscored_rows_could_be_worth_the_least_or_the_most():
    value = average(stored(["good", "good", "fair"], n_error=1, n_excluded=3))
    assert (value.bound_low, value.bound_high) == (0.375, 0.875)


def test_rows_without_a_label_are_told_and_widen_the_bounds():
    value = average(listed(["good", None, MISSING, float("nan")]))
    assert (value.value, value.n, value.bound_low, value.bound_high) == (1.0, 1, -0.5, 1.0)
    assert value.reason == "one row, so no interval; 3 of 4 scored rows have no label in 'x'"


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (ScoreTable({}, None, Counts(0, n_error=3)), "no scored rows"),
        (listed([None, MISSING]), "no scored rows: 'x' is null or NaN in all 2"),
    ],
    ids=["all errors", "null or lacking"],
)
def test_br_059_nothing_scored_is_no_number(table, reason):
    value = average(table)
    assert (value.value, value.n, value.reason) == (None, 0, reason)


def test_a_label_without_a_weight_is_an_error_that_names_it():
    with pytest.raises(MetricError) as caught:
        average(stored(["good", "Bad"]))
    assert str(caught.value) == (
        "'x' holds 'Bad', which has no weight; "
        "give it one; labels with a weight: 'good', 'fair', 'bad'"
    )


def test_the_name_can_be_given_and_makes_the_key():
    metric = WeightedAverage(field="x", weights=WEIGHTS, name="Net score")
    assert metric.compute(stored(["good"]))[0].name == "Net score"
    assert metric.made_key() == "net-score"
    assert WeightedAverage(field="x", weights=WEIGHTS).made_key() == "weighted_average_x"


@pytest.mark.parametrize(
    "weights",
    [{}, {"a": "high"}, {"a": float("nan")}, {"a": float("inf")}, ["a"]],
    ids=["none", "text", "NaN", "infinity", "no mapping"],
)
def test_weights_are_finite_numbers_of_at_least_one_label(weights):
    with pytest.raises(ValidationError, match="weights"):
        TypeAdapter(WeightedAverage).validate_python({"field": "x", "weights": weights})


@given(st.lists(st.sampled_from(list(WEIGHTS)), min_size=1))
def test_order_and_storage_do_not_matter_and_the_bounds_hold_it(labels):
    value = average(listed(labels))
    assert value == average(stored(labels[::-1])) == average(mixed(labels))
    assert -1 <= value.value <= 1
