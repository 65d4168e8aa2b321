import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.metrics.max import Max
from tasks_lib.metrics.min import Min
from tasks_lib.metrics.std_dev import StdDev
from tests.metrics.tables import listed, mixed, stored


@pytest.mark.parametrize(
    ("metric", "scores", "expected"),
    [
        (Min(field="x"), [3.0, 1.0, 2.0], 1.0),
        (Max(field="x"), [3.0, 1.0, 2.0], 3.0),
        (Min(field="x"), [True, False], 0.0),
        (Max(field="x"), [False, True], 1.0),
        (Min(field="x"), [float("nan"), 2.0, None], 2.0),
        (Min(field="x"), [1.0, float("inf")], 1.0),
        (StdDev(field="x"), [2 / 3, 1.0, 2 / 3, 1.0, 2 / 3], 0.18257418583505536),
        (StdDev(field="x"), [0.1, 0.1, 0.1], 0.0),
        (StdDev(field="x"), [5.0], 0.0),
    ],
    ids=[
        "min",
        "max",
        "min of booleans",
        "max of booleans",
        "NaN and null are left out",
        "an infinity that is not the smallest",
        "std_dev of the documented repeatability example",
        "std_dev of equal scores is exactly 0",
        "std_dev of one score is 0",
    ],
)
@pytest.mark.parametrize("make", [listed, stored], ids=["list", "arrow"])
def test_value(make, metric, scores, expected):
    (value,) = metric.compute(make(scores))
    assert value.value == pytest.approx(expected, abs=1e-15)
    assert value.name == f"x_{metric.type}"
    assert (value.stderr, value.ci_low, value.bound_low) == (None, None, None)


@pytest.mark.parametrize(
    ("metric", "scores"),
    [
        (Max(field="x"), [1.0, float("inf")]),
        (StdDev(field="x"), [1.0, float("-inf")]),
        (StdDev(field="x"), [float("inf"), 1.0, 2.0]),
    ],
    ids=["max", "std_dev", "infinity first"],
)
def test_br_059_infinity_is_never_a_clean_number(metric, scores):
    (value,) = metric.compute(stored(scores))
    assert value.value is None
    assert "1 of" in value.reason
    assert "infinite" in value.reason


@pytest.mark.parametrize("metric", [Min(field="x"), Max(field="x"), StdDev(field="x")])
def test_br_059_nothing_scored_is_no_number(metric):
    (value,) = metric.compute(stored([None, None], n_error=1))
    assert (value.value, value.n) == (None, 0)
    assert value.reason.startswith("no scored rows")


def test_numbers_among_other_kinds_are_used():
    (value,) = Max(field="x").compute(mixed([True, 0.5, None]))
    assert value.value == 1.0


@given(st.lists(st.floats(-1e6, 1e6), min_size=1))
def test_they_do_not_depend_on_the_order_and_enclose_the_scores(scores):
    for make in (listed, stored):
        (low,) = Min(field="x").compute(make(scores))
        (high,) = Max(field="x").compute(make(scores[::-1]))
        (spread,) = StdDev(field="x").compute(make(sorted(scores)))
        assert (low.value, high.value) == (min(scores), max(scores))
        assert 0 <= spread.value <= (high.value - low.value) * 0.7072
