import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.retries import (
    MAX_ATTEMPTS,
    MAX_DELAY,
    MAX_RETRY_AFTER,
    given_up,
    next_delay,
)


def failed(retry_after: float | None = None, status: int = 429, **other: bool) -> CallFailure:
    fields = {"retryable": True, **other}
    return CallFailure("infra", "slow down", status=status, retry_after=retry_after, **fields)


@pytest.mark.parametrize("attempt", range(1, MAX_ATTEMPTS))
def test_the_back_off_doubles_with_jitter(attempt: int):
    jitter = random.Random(1)
    delays = [next_delay(failed(), attempt, jitter) for _ in range(200)]
    most = 2.0 ** (attempt - 1)
    assert all(delay is not None and most / 2 <= delay <= most for delay in delays)
    assert len(set(delays)) > 100, "calls that failed together don't come back together"


@given(st.integers(1, 100), st.integers())
def test_no_back_off_is_longer_than_its_cap_or_none_at_all(attempt: int, seed: int):
    delay = next_delay(failed(), attempt, random.Random(seed))
    assert (delay is None) == (attempt >= MAX_ATTEMPTS)
    assert delay is None or 0 < delay <= MAX_DELAY


@given(st.floats(0.001, MAX_RETRY_AFTER), st.integers(1, MAX_ATTEMPTS - 1), st.integers())
def test_what_the_server_asks_for_is_waited_in_full(seconds: float, attempt: int, seed: int):
    """BR-022."""
    delay = next_delay(failed(seconds), attempt, random.Random(seed))
    assert delay is not None
    assert seconds <= delay <= seconds + 1


@pytest.mark.parametrize(
    ("failure", "attempt"),
    [
        pytest.param(failed(retryable=False), 1, id="would fail again"),
        pytest.param(failed(), MAX_ATTEMPTS, id="tried often enough"),
        pytest.param(failed(86_400.0), 1, id="BR-022: asked to wait a day"),
    ],
)
def test_a_call_is_given_up(failure: CallFailure, attempt: int):
    assert next_delay(failure, attempt, random.Random(1)) is None


@pytest.mark.parametrize(
    ("failure", "attempts", "words"),
    [
        pytest.param(
            failed(86_400.0),
            1,
            "model 'lab': slow down; the server asks to wait 86400 s, more than the 300 s "
            "waited for; lower the model's max_concurrent_requests or set its rate_limit",
            id="BR-022",
        ),
        (failed(status=500), 5, "model 'lab': slow down (after 5 attempts)"),
        (failed(status=401), 1, "model 'lab': slow down; check the model's api_key"),
        (failed(status=400), 1, "model 'lab': slow down"),
    ],
)
def test_giving_up_says_what_where_and_what_to_do(failure: CallFailure, attempts: int, words: str):
    error = given_up(failure, attempts, "lab")
    assert str(error) == words
    assert error.error_class == "infra"
