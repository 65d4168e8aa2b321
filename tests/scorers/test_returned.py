import math

import numpy as np
import pytest

from tasks_lib.errors import SampleError
from tasks_lib.scorers.returned import read_score


@pytest.mark.parametrize(
    ("returned", "values", "metadata"),
    [
        ({"a": 1, "b": True}, {"a": 1, "b": True}, None),
        ({"scores": {"a": 1}}, {"a": 1}, None),
        ({"scores": {"a": 1}, "metadata": {"m": [1]}}, {"a": 1}, {"m": [1]}),
        ({"scores": {"a": 1}, "metadata": None}, {"a": 1}, None),
        ({"scores": {"a": 1}, "b": 2}, {"scores": {"a": 1}, "b": 2}, None),
        ({"scores": 3}, {"scores": 3}, None),
        ({"metadata": {"m": 1}}, {"metadata": {"m": 1}}, None),
        ({}, {}, None),
        ({"a": None, "b": [1, {"c": "x"}]}, {"a": None, "b": [1, {"c": "x"}]}, None),
        ({"a": (1, 2)}, {"a": [1, 2]}, None),
    ],
    ids=[
        "flat",
        "wrapped",
        "wrapped with metadata",
        "metadata may be null",
        "another key beside scores makes it flat",
        "scores that is no mapping is a score",
        "metadata alone is a score",
        "no score at all",
        "any JSON value",
        "tuples are lists",
    ],
)  # fmt: skip
def test_forms(returned, values, metadata):
    score = read_score(returned, "compute_scores")
    assert (score.values, score.metadata) == (values, metadata)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (np.float32(0.5), 0.5),
        (np.float64(0.25), 0.25),
        (np.int64(3), 3),
        (np.True_, True),
        (np.str_("x"), "x"),
        (np.array([1, 2]), [1, 2]),
        ([np.int8(1)], [1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_numpy_values_become_plain_ones(value, plain):
    found = read_score({"a": value}, "compute_scores").values["a"]
    assert found == plain
    assert type(found) is type(plain)


def test_nan_stays_for_the_metrics_to_leave_out():
    assert math.isnan(read_score({"a": np.float64("nan")}, "compute_scores").values["a"])


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        (0.5, "compute_scores returned 0.5 (float)"),
        (None, "compute_scores returned None"),
        ([1], "compute_scores returned [1] (list)"),
        ({"a": {1, 2}}, "compute_scores.a is {1, 2} (set)"),
        ({"a": [0, 1j]}, "compute_scores.a[1] is 1j (complex)"),
        ({1: 2}, "compute_scores has the key 1 (int)"),
        ({"a": 2**1024}, "compute_scores.a is an integer of 1,025 bits"),
        ({"a": [-(10**5000)]}, "compute_scores.a[0] is an integer of 16,610 bits"),
        ({"scores": {"a": b"x"}}, "compute_scores: scores.a is b'x' (bytes)"),
        ({"scores": {}, "metadata": 3}, "compute_scores returned metadata 3 (int)"),
    ],
)
def test_anything_else_is_an_error_in_the_authors_code(returned, problem):
    with pytest.raises(SampleError) as caught:
        read_score(returned, "compute_scores")
    assert (caught.value.error_class, caught.value.problem) == ("code", problem)


def test_a_value_that_holds_itself_is_an_error():
    loop = {}
    loop["a"] = loop
    with pytest.raises(SampleError, match="nested without end"):
        read_score(loop, "compute_scores")
