"""When a failed call is tried again: the only retry layer of model calls."""

import random

from tasks_lib.errors import SampleError
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


def given_up(failure: CallFailure, attempts: int, model_key: str) -> SampleError:
    """Return the error of a sample whose call is given up: what, which model, what to do."""
    problem = failure.problem
    if failure.retry_after is not None and failure.retry_after > MAX_RETRY_AFTER:
        problem += (
            f"; the server asks to wait {failure.retry_after:.0f} s, "
            f"more than the {MAX_RETRY_AFTER:.0f} s waited for"
        )
    elif attempts > 1:
        problem += f" (after {attempts} attempts)"
    fix = failure.fix or _ADVICE.get(failure.status, "")
    return SampleError(failure.error_class, problem, f"model '{model_key}'", fix)


_ADVICE = {
    401: "check the model's api_key",
    402: "look at the account's credit and limits",
    403: "check what the model's api_key allows",
    404: "check the model's url and model_key",
    429: "lower the model's max_concurrent_requests or set its rate_limit",
}
