from math import isclose

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.statistics.intervals import student_t, wilson

PUBLISHED = [
    # successes, n, low, high: exact values of public implementations and issue reports
    (0, 20, 0.0, 0.1611251580528194),
    (19, 20, 0.7638688065532577, 0.9911185511992044),
    (20, 20, 0.8388748419471804, 1.0),
    (83, 100, 0.7445199523239887, 0.8910643388594006),
    (7, 10, 0.39677814746114537, 0.8922087325936989),
    (1, 3, 0.06149194472039626, 0.7923403991979523),
    (450, 500, 0.8705780903680599, 0.9233224372626984),
    (0, 25, 0.0, 0.13319225093904855),
    (0, 307, 0.0, 0.012358257599447291),
    (0, 123, 0.0, 0.030285514345309572),
    (0, 1324, 0.0, 0.002893010152059771),
    (0, 250, 0.0, 0.015133299495444574),
]


@pytest.mark.parametrize(("successes", "n", "low", "high"), PUBLISHED)
def test_wilson_gives_the_published_values(successes, n, low, high):
    interval = wilson(successes, n)
    assert interval.low == pytest.approx(low, abs=1e-14)
    assert interval.high == pytest.approx(high, abs=1e-14)
    assert (interval.level, interval.method) == (0.95, "wilson")


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [(1, 2, 0.095, 0.905), (4, 5, 0.376, 0.964), (460, 500, 0.893, 0.941), (10, 10, 0.722, 1.0)],
)
def test_wilson_rounds_to_the_published_percentages(successes, n, low, high):
    interval = wilson(successes, n)
    assert (round(interval.low, 3), round(interval.high, 3)) == (low, high)


@given(st.integers(1, 10_000_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_lies_in_the_unit_range_has_width_and_holds_the_rate(counts):
    successes, n = counts
    interval = wilson(successes, n)
    assert 0 <= interval.low <= successes / n <= interval.high <= 1
    assert interval.low < interval.high


@given(st.integers(1, 10_000), st.integers(0, 10_000))
def test_wilson_of_failures_mirrors_wilson_of_successes(n, successes):
    successes = min(successes, n)
    one, other = wilson(successes, n), wilson(n - successes, n)
    assert isclose(one.low, 1 - other.high, abs_tol=1e-12)
    assert isclose(one.high, 1 - other.low, abs_tol=1e-12)


def test_a_higher_level_gives_a_wider_interval():
    narrow, wide = wilson(7, 10, level=0.8), wilson(7, 10, level=0.99)
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (3, 2), (-1, 2)])
def test_wilson_refuses_counts_that_are_no_rate(successes, n):
    with pytest.raises(ValueError, match="is no rate"):
        wilson(successes, n)


def test_student_t_gives_the_published_interval_of_eight_values():
    interval = student_t(0.54375, 0.12190361385713129, 8)
    assert interval.low == pytest.approx(0.25549375831662524, abs=1e-12)
    assert interval.high == pytest.approx(0.8320062416833749, abs=1e-12)
    assert interval.method == "t"


@pytest.mark.parametrize(("stderr", "n"), [(0.1, 1), (0.0, 5), (float("nan"), 5)])
def test_student_t_refuses_data_without_spread(stderr, n):
    with pytest.raises(ValueError, match="carry no interval"):
        student_t(0.5, stderr, n)
