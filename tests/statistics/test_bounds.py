import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.statistics.bounds import mean_bounds


@pytest.mark.parametrize(
    ("right", "n", "population", "bounds"),
    [
        (70, 90, 100, (0.7, 0.8)),
        (320, 694, 730, (0.4383561643835616, 0.4876712328767123)),
        (6, 8, 10, (0.6, 0.8)),
        (3, 4, 4, (0.75, 0.75)),
        (0, 0, 3, (0.0, 1.0)),
    ],
    ids=[
        "ten errors of a hundred",
        "36 of 730 died of the rate limit",
        "BR-055: two errors of ten",
        "no error: both bounds are the mean",
        "nothing scored: anything is possible",
    ],
)
def test_bounds_of_a_rate(right, n, population, bounds):
    assert mean_bounds(right, n, population, low=0, high=1) == pytest.approx(bounds)


def test_bounds_follow_the_range_of_the_scores():
    assert mean_bounds(total=12.0, n=4, n_population=6, low=1, high=5) == (14 / 6, 22 / 6)


@given(st.lists(st.booleans(), min_size=1, max_size=50), st.data())
def test_whatever_the_unscored_rows_were_the_mean_lies_within(outcomes, data):
    n = data.draw(st.integers(0, len(outcomes)))
    low, high = mean_bounds(sum(outcomes[:n]), n, len(outcomes), low=0, high=1)
    assert low <= sum(outcomes) / len(outcomes) <= high


@pytest.mark.parametrize(("n", "population"), [(0, 0), (5, 4)])
def test_a_population_smaller_than_the_scored_rows_is_refused(n, population):
    with pytest.raises(ValueError, match="leave no bounds"):
        mean_bounds(0, n, population, low=0, high=1)
