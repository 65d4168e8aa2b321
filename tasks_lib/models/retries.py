"""When a failed call is tried again: the only retry layer of model calls."""

import random

from tasks_lib.models.connections.base import CallFailure

MAX_ATTEMPTS = 5
FIRST_DELAY = 1.0  # seconds
MAX_DELAY = 60.0  # seconds of our own back-off
MAX_RETRY_AFTER = 300.0  # seconds a server may ask for; more ends the call with an error


def next_delay(failure: CallFailure, attempt: int, jitter: random.Random) -> float | None:
    """Return the seconds to wait before the next attempt; None when there is none.

    Exponential back-off with full upper-half jitter; `Retry-After` is honoured in full, and
    one beyond `MAX_RETRY_AFTER` ends the call rather than holding a worker for hours.

    Args:
        failure: what the attempt ended with.
        attempt: number of attempts made so far, from 1.
        jitter: source of the jitter.
    """
    if not failure.retryable or attempt >= MAX_ATTEMPTS:
        return None
    if failure.retry_after is not None:
        if failure.retry_after > MAX_RETRY_AFTER:
            return None
        return failure.retry_after + jitter.uniform(0.0, 0.1 * FIRST_DELAY)
    ceiling = min(FIRST_DELAY * 2.0 ** (attempt - 1), MAX_DELAY)
    return ceiling * jitter.uniform(0.5, 1.0)


def final_words(failure: CallFailure, attempts: int) -> str:
    """Say why a call is given up, for the sample's error row."""
    if failure.retry_after is not None and failure.retry_after > MAX_RETRY_AFTER:
        return (
            f"{failure.problem}; the server asks to wait {failure.retry_after:.0f} s, "
            f"more than the {MAX_RETRY_AFTER:.0f} s waited for"
        )
    if attempts > 1:
        return f"{failure.problem} (after {attempts} attempts)"
    return failure.problem
