import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.statistics.ratios import ratio_stderr


def stderr(parts: list[float], wholes: list[float]) -> float | None:
    return ratio_stderr(np.array(parts, dtype=np.float64), np.array(wholes, dtype=np.float64))


def test_of_clusters_it_is_the_published_clustered_error():
    # scores 1,1,0 | 1,1,1,1 | 0,0 | 1,0,1 | 0,0,0; statsmodels' CR1 is the same
    assert stderr([2, 4, 0, 2, 0], [3, 4, 2, 3, 3]) == pytest.approx(0.20415438360632626)


def test_with_wholes_of_one_it_is_the_error_of_the_mean():
    assert stderr([1, 0, 1, 1, 0, 1, 1, 1, 0, 1], [1] * 10) == pytest.approx(0.15275252316519464)


@pytest.mark.parametrize(
    ("parts", "wholes"),
    [([3], [4]), ([1, 2], [2, 4]), ([0, 0], [3, 5])],
    ids=["one unit", "the same ratio everywhere", "no part at all"],
)
def test_without_spread_there_is_none(parts, wholes):
    assert stderr(parts, wholes) is None


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9)), min_size=2))
def test_neither_scale_nor_order_matters(units):
    parts, wholes = map(list, zip(*units, strict=True))
    one = stderr(parts, wholes) or 0
    other = stderr([7 * part for part in parts[::-1]], [7 * whole for whole in wholes[::-1]]) or 0
    assert one == pytest.approx(other, abs=1e-6)
