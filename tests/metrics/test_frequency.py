from time import perf_counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import MetricError
from tasks_lib.metrics.frequency import Frequency
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored

FREQUENCY = Frequency(field="x")


def shares(table: ScoreTable) -> dict[str, float | None]:
    return {value.name: value.value for value in FREQUENCY.compute(table)}


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a", "b", "c"], {"x_b": 0.5, "x_a": 0.25, "x_c": 0.25}),
        ([True, False, True, True], {"x_True": 0.75, "x_False": 0.25}),
        ([3.0, 0.5, 3.0, 0.5], {"x_0.5": 0.5, "x_3": 0.5}),
        (["a", None, None, ""], {"x_None": 0.5, "x_": 0.25, "x_a": 0.25}),
    ],
    ids=["text", "booleans", "numbers", "null and empty text"],
)
def test_shares_by_text_commonest_first_then_by_text(make, values, expected):
    found = shares(make(values))
    assert found == expected
    assert list(found) == list(expected)


def test_values_of_several_kinds_are_told_apart_by_their_text():
    found = shares(mixed([1, "1", {"a": 1}, [1, 2], True, "True", None]))
    assert found == {
        "x_1": 2 / 7,
        "x_True": 2 / 7,
        "x_None": 1 / 7,
        "x_[1,2]": 1 / 7,
        'x_{"a":1}': 1 / 7,
    }


def test_every_share_has_an_interval_and_bounds():
    yes, no = FREQUENCY.compute(stored(["yes"] * 7 + ["no"] * 3, n_error=10, n_excluded=4))
    assert (yes.value, yes.n, yes.ci_method) == (0.7, 10, "wilson")
    assert (yes.ci_low, yes.ci_high) == pytest.approx((0.39677814746114537, 0.8922087325936989))
    assert yes.stderr == pytest.approx(0.15275252316519464)
    assert (yes.bound_low, yes.bound_high) == (0.35, 0.85)
    assert (no.bound_low, no.bound_high) == (0.15, 0.65)


def test_a_value_all_rows_share_has_no_standard_error_but_an_interval():
    (only,) = FREQUENCY.compute(stored(["yes"] * 10))
    assert (only.value, only.stderr) == (1.0, None)
    assert only.ci_low == pytest.approx(0.722, abs=1e-3)


def test_rows_that_lack_the_field_and_nan_are_not_counted():
    assert shares(listed(["a", MISSING, "a", float("nan")])) == {"x_a": 1.0}
    (value,) = FREQUENCY.compute(stored([1.0, float("nan")]))
    assert (value.name, value.value, value.n, value.bound_low) == ("x_1", 1.0, 1, 0.5)


@pytest.mark.parametrize(
    "table",
    [ScoreTable({}, None, Counts(0, n_error=2)), listed([MISSING]), stored([float("nan")])],
    ids=["all errors", "lacking", "NaN"],
)
def test_nothing_scored_is_one_missing_value(table):
    (value,) = FREQUENCY.compute(table)
    assert (value.name, value.value, value.n) == ("x", None, 0)
    assert value.reason.startswith("no scored rows")


def test_a_wrong_field_is_an_error():
    with pytest.raises(MetricError, match="did you mean 'label'"):
        Frequency(field="labels").compute(stored(["a"], field="label"))


def test_free_text_is_refused():
    with pytest.raises(MetricError, match="'x' has 10,001 different values"):
        FREQUENCY.compute(stored([f"answer {i}" for i in range(10_001)]))


@given(st.lists(st.sampled_from(["a", "b", "c"]) | st.none(), min_size=1))
def test_shares_sum_to_one_and_do_not_depend_on_order_or_storage(values):
    found = FREQUENCY.compute(listed(values))
    assert sum(value.value for value in found) == pytest.approx(1.0)
    assert found == FREQUENCY.compute(listed(values[::-1]))
    assert found == FREQUENCY.compute(stored(pa.array(values, pa.string())))
    assert found == FREQUENCY.compute(mixed(values))


def test_a_million_rows_take_under_100_ms():
    column = pa.chunked_array([pa.array(np.arange(1_000_000) % 7 == 0)])
    table = ScoreTable({"x": column}, None, Counts(1_000_000))
    start = perf_counter()
    FREQUENCY.compute(table)
    assert perf_counter() - start < 0.1
