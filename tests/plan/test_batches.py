from itertools import pairwise
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.plan.batches import (
    MAX_BATCHES,
    MAX_TASK_RUNS,
    SINGLES,
    batch_size,
    cut,
    fitting_sizes,
    interleaved,
)


@given(st.integers(0, 5_000), st.integers(1, 1_000))
def test_cuts_cover_every_sample_exactly_once(n_samples: int, size: int):
    cuts = cut(n_samples, size)
    assert [i for start, stop in cuts for i in range(start, stop)] == list(range(n_samples))
    assert all(stop - start == size for start, stop in cuts[:-1])
    assert all(before[1] == after[0] for before, after in pairwise(cuts))
    assert len(cuts) == ceil(n_samples / size)


@given(st.integers(1, 2_000_000), st.integers(1, 1_000))
def test_no_stage_has_more_batches_than_can_be_read(n_samples: int, concurrency: int):
    size = batch_size(n_samples, concurrency)
    assert 1 <= size <= n_samples
    assert ceil(n_samples / size) <= MAX_BATCHES


@pytest.mark.parametrize(
    ("n_samples", "concurrency", "size"),
    [
        pytest.param(1, 10, 1, id="one"),
        pytest.param(SINGLES, 10, 1, id="each shown by itself"),
        pytest.param(SINGLES + 1, 10, 50, id="some seconds of work"),
        pytest.param(60, 100, 60, id="all at once"),
        pytest.param(10_000, 10, 50, id="as many as can be read"),
        pytest.param(1_000_000, 10, 5_000, id="no more than can be read"),
    ],
)
def test_the_size_of_batches(n_samples: int, concurrency: int, size: int):
    assert batch_size(n_samples, concurrency) == size


@given(st.lists(st.tuples(st.integers(0, 100_000), st.integers(1, 500)), min_size=1, max_size=40))
def test_all_stages_fit_into_one_flow_run(wanted: list[tuple[int, int]]):
    counts = [n for n, _ in wanted]
    sizes = [size for _, size in wanted]
    fitted = fitting_sizes(counts, sizes)
    batches = sum(ceil(n / size) for n, size in zip(counts, fitted, strict=True))
    runs = 2 * batches + len(wanted) + 1  # solve and score, score-all of each, reduce
    assert runs <= MAX_TASK_RUNS
    assert all(size >= before for size, before in zip(fitted, sizes, strict=True))


def test_sizes_that_fit_stay_as_they_were_asked_for():
    assert fitting_sizes([100, 100], [1, 7]) == [1, 7]


def test_more_specifications_than_task_runs_get_a_batch_each():
    assert all(size >= 5 for size in fitting_sizes([5] * 2_000, [1] * 2_000))


@given(st.lists(st.lists(st.integers() | st.none())))
def test_interleaving_loses_nothing_and_keeps_each_order(lists: list[list[int | None]]):
    marked = [[(i, item) for item in items] for i, items in enumerate(lists)]
    taken = list(interleaved(marked))
    for i, items in enumerate(marked):
        assert [pair for pair in taken if pair[0] == i] == items
    assert len(taken) == sum(map(len, lists))


def test_lists_take_turns():
    assert "".join(interleaved(["ace", "b", "df"])) == "abdcfe"
