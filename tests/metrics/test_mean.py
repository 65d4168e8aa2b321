import random
from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.mean import Mean
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored

MEAN = Mean(field="x")
TEN = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0]
EIGHT = [0.2, 0.9, 0.55, 1.0, 0.0, 0.75, 0.6, 0.35]


def mean(table: ScoreTable) -> MetricValue:
    (value,) = MEAN.compute(table)
    return value


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_numbers_have_a_t_interval(make):
    value = mean(make(EIGHT))
    assert value.value == pytest.approx(0.54375)
    assert value.stderr == pytest.approx(0.12190361385713129, abs=1e-15)
    assert (value.ci_low, value.ci_high) == pytest.approx((0.25549375831662524, 0.8320062416833749))
    assert (value.ci_level, value.ci_method, value.n) == (0.95, "t", 8)
    assert (value.bound_low, value.bound_high, value.reason) == (None, None, None)


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_booleans_are_a_rate_with_wilson_and_bounds(make):
    value = mean(make([score == 1.0 for score in TEN]))
    assert value.value == 0.7
    assert value.stderr == pytest.approx(0.15275252316519464, abs=1e-15)
    assert (value.ci_low, value.ci_high) == pytest.approx((0.39677814746114537, 0.8922087325936989))
    assert value.ci_method == "wilson"
    assert (value.bound_low, value.bound_high) == (0.7, 0.7)


@pytest.mark.parametrize("right", [True, False], ids=["all right", "all wrong"])
def test_a_rate_without_spread_still_has_width(right):
    value = mean(stored([right] * 25))
    assert value.stderr is None
    assert value.ci_high - value.ci_low == pytest.approx(0.13319225093904855)


def test_equal_numbers_have_no_interval_rather_than_one_of_width_zero():
    value = mean(stored([0.1] * 10))
    assert (value.value, value.stderr, value.ci_low, value.ci_high) == (0.1, None, None, None)
    assert value.reason == "all 10 scores are equal, so no interval"


def test_one_number_has_no_interval():
    value = mean(stored([0.25]))
    assert (value.value, value.n, value.ci_low) == (0.25, 1, None)
    assert value.reason == "one row, so no interval"


def test_one_boolean_has_a_wide_interval():
    value = mean(stored([True]))
    assert value.ci_low == pytest.approx(0.2065, abs=1e-4)
    assert value.ci_high == 1.0


def test_br_055_errors_leave_the_rate_and_show_in_the_bounds():
    value = mean(stored([True] * 6 + [False] * 2, n_error=2))
    assert (value.value, value.n) == (0.75, 8)
    assert (value.bound_low, value.bound_high) == (0.6, 0.8)


def test_skipped_rows_count_in_the_bounds_and_excluded_ones_do_not():
    value = mean(stored([True, True, False], n_skipped=1, n_excluded=5))
    assert (value.bound_low, value.bound_high) == (0.5, 0.75)


@pytest.mark.parametrize("make", [listed, stored], ids=["list", "arrow"])
def test_br_058_nan_is_not_scored(make):
    value = mean(make([0.9, 0.6, float("nan"), 0.7, 0.8]))
    assert value.value == pytest.approx(0.75)
    assert value.n == 4
    assert value.reason == "1 of 5 scored rows have no number in 'x'"


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_null_is_not_scored_and_widens_the_bounds(make):
    value = mean(make([True, None, True, False]))
    assert value.value == pytest.approx(2 / 3)
    assert (value.n, value.bound_low, value.bound_high) == (3, 0.5, 0.75)


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_br_062_a_row_with_nothing_to_check_is_not_0_and_not_1(make):
    value = mean(make([None, 0.5, 1.0]))
    assert (value.value, value.n) == (0.75, 2)
    assert value.reason == "1 of 3 scored rows have no number in 'x'"


def test_rows_that_lack_the_field_are_not_scored():
    assert mean(listed([2.0, MISSING, 4.0])).value == 3.0


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (ScoreTable({}, None, Counts(0, n_error=3)), "no scored rows"),
        (ScoreTable({}, None, Counts(0)), "no scored rows"),
        (stored(pa.array([], pa.float64())), "no scored rows"),
        (stored([float("nan")] * 2), "no scored rows: 'x' is null or NaN in all 2"),
        (stored([None, None]), "no scored rows: 'x' is null or NaN in all 2"),
        (listed([None, MISSING]), "no scored rows: 'x' is null or NaN in all 2"),
    ],
    ids=["all errors", "no rows", "empty column", "all NaN", "all null", "null or lacking"],
)
def test_br_059_nothing_scored_is_no_number(table, reason):
    value = mean(table)
    assert (value.value, value.n, value.ci_low, value.reason) == (None, 0, None, reason)


def test_nothing_scored_of_a_boolean_field_could_be_anything():
    value = mean(stored(pa.array([None, None], pa.bool_()), n_error=1))
    assert (value.value, value.bound_low, value.bound_high) == (None, 0.0, 1.0)


@pytest.mark.parametrize("make", [listed, stored], ids=["list", "arrow"])
def test_br_059_an_infinite_score_gives_no_mean(make):
    value = mean(make([1.0, 3.0, float("inf")]))
    assert (value.value, value.stderr, value.ci_low) == (None, None, None)
    assert value.reason == "1 of 3 scores are infinite, so there is no such number"


def test_scores_too_large_to_add_up_give_no_mean():
    value = mean(stored([1e308, 1.7e308]))
    assert (value.value, value.reason) == (None, "the scores are too large to add up")


def test_br_085_numbers_among_other_kinds_are_used_and_booleans_are_1_and_0():
    value = mean(mixed([1, None, True, 4.0, False]))
    assert (value.value, value.n, value.ci_method) == (1.5, 4, "t")
    assert value.bound_low is None


@pytest.mark.parametrize(
    ("table", "example"),
    [
        (mixed([1, "C", True]), "'C'"),
        (mixed([1, {"style": 0.5}]), "{'style': 0.5}"),
        (stored([None, "C"]), "'C'"),
        (listed([1, [2]]), "[2]"),
    ],
    ids=["BR-085: text among numbers", "BR-085: a mapping among numbers", "text", "a list"],
)
def test_what_is_no_number_is_an_error_with_an_example(table, example):
    with pytest.raises(MetricError) as caught:
        mean(table)
    assert caught.value.problem == f"'x' holds {example}, which is no number"


def test_a_wrong_field_is_an_error():
    with pytest.raises(MetricError, match="no score has a field 'y'"):
        Mean(field="y").compute(stored([1.0]))


def test_an_integer_beyond_floats_is_an_error_not_a_crash():
    with pytest.raises(MetricError, match="beyond the range of floats"):
        mean(listed([1, 10**400]))


def test_the_name_can_be_given():
    (value,) = Mean(field="x", name="accuracy").compute(stored([True]))
    assert value.name == "accuracy"
    assert mean(stored([True])).name == "x_mean"


@pytest.mark.parametrize(
    ("metric", "key"),
    [
        (Mean(field="is_correct"), "mean_is_correct"),
        (Mean(field="is_correct", name="Top 1 (%)"), "top-1"),
        (Mean(field="score", name="精度"), "mean_score"),
        (Mean(field="Gut & Schön"), "mean_gut-sch-n"),
    ],
    ids=["type and field", "from the name", "a name without letters of a key", "odd field"],
)
def test_the_key_made_where_none_is_written(metric, key):
    assert metric.made_key() == key


@given(st.lists(st.booleans(), min_size=1))
def test_the_mean_of_booleans_is_their_rate(outcomes):
    value = mean(stored(outcomes))
    assert value.value == pytest.approx(sum(outcomes) / len(outcomes))
    assert value.ci_low <= value.value <= value.ci_high


@given(
    st.lists(
        st.none() | st.floats(-1e9, 1e9) | st.just(float("nan")),
        min_size=1,
    ),
    st.randoms(use_true_random=False),
)
def test_the_order_of_rows_does_not_matter(scores, shuffler: random.Random):
    shuffled = list(scores)
    shuffler.shuffle(shuffled)
    one, other = mean(stored(scores)), mean(stored(shuffled))
    assert (one.n, one.ci_method, one.reason) == (other.n, other.ci_method, other.reason)
    for name in ("value", "stderr", "ci_low", "ci_high"):
        mine, theirs = getattr(one, name), getattr(other, name)
        assert mine == theirs or mine == pytest.approx(theirs, rel=1e-6, abs=1e-6)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2))
def test_how_the_column_is_cut_into_chunks_does_not_matter(scores):
    whole = pa.chunked_array([pa.array(scores)])
    single = pa.chunked_array([pa.array([score]) for score in scores])
    counts = Counts(len(scores))
    assert mean(ScoreTable({"x": whole}, None, counts)) == mean(
        ScoreTable({"x": single}, None, counts)
    )


@pytest.mark.parametrize(
    "column",
    [
        pa.array(np.arange(1_000_000) % 3 == 0),
        pa.array(np.linspace(0.0, 1.0, 1_000_000)),
        pa.array([None, *np.linspace(0.0, 1.0, 999_999)]),
    ],
    ids=["booleans", "numbers", "numbers with a null"],
)
def test_a_million_rows_take_under_50_ms(column):
    table = ScoreTable({"x": pa.chunked_array([column])}, None, Counts(len(column)))
    mean(table)
    took = []
    for _ in range(3):
        start = perf_counter()
        mean(table)
        took.append(perf_counter() - start)
    assert min(took) < 0.05


def share(values, **counts):
    column = pa.chunked_array([pa.array(values, pa.float64())])
    return ScoreTable({"x": column}, None, Counts(len(values), **counts), shares={"x"})


def test_shares_of_several_trials_have_a_t_interval_and_bounds():
    value = mean(share([0.5, 1.0, 0.75], n_error=1))
    assert (value.value, value.ci_method) == (0.75, "t")
    assert (value.bound_low, value.bound_high) == (0.5625, 0.8125)


@pytest.mark.parametrize(
    ("end", "low", "high"), [(0.0, 0.0, 0.1611251580528194), (1.0, 0.8388748419471804, 1.0)]
)
def test_shares_that_are_all_at_one_end_have_wilsons_interval(end, low, high):
    value = mean(share([end] * 20))
    assert (value.ci_low, value.ci_high) == pytest.approx((low, high))
    assert value.ci_method == "wilson"


def test_shares_that_are_equal_elsewhere_have_no_interval():
    assert mean(share([0.5] * 20)).reason == "all 20 scores are equal, so no interval"


def test_the_interval_of_shares_is_cut_at_0_and_1():
    value = mean(share([0.25, 1.0]))
    assert (value.ci_low, value.ci_high, value.ci_method) == (0.0, 1.0, "t")
