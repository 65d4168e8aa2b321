"""What an HTTP status that is no success means for a call, and how long it asks to wait."""

import email.utils
import time
from collections.abc import Mapping
from datetime import UTC

import orjson

from tasks_lib.errors import ErrorClass, bounded
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.secrets import clean_url, redact

_RETRYABLE = frozenset({408, 409, 425, 429})
_MOVED = frozenset({301, 302, 303, 307, 308})
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that no waiting helps with."""
_MOVED_ADVICE = "write the new address as the model's url, if it is to be trusted"
_SPENT_ADVICE = "look at the account's credit and limits"


def status_failure(status: int, headers: Mapping[str, str], text: str) -> CallFailure:
    """Return what an error status means for the call; `text` is the body of the reply."""
    message, code = _error_words(text)
    moved = status in _MOVED
    if moved:
        message = f"it has moved to '{clean_url(headers.get('location', ''))}'"
    spent = code in _SPENT
    retryable = (status in _RETRYABLE and not spent) or status >= 500
    error_class: ErrorClass = "infra"
    if status in (400, 413, 422):
        error_class = "model"  # this request's content; another sample's may be fine
    problem = f"HTTP {status}"
    if code:
        problem += f" ({code})"
    return CallFailure(
        error_class,
        one_line(f"{problem}: {message}" if message else problem),
        retryable=retryable,
        retry_after=retry_after(headers) if retryable else None,
        status=status,
        fix=_MOVED_ADVICE if moved else _SPENT_ADVICE if spent else "",
    )


def one_line(words: str) -> str:
    """Return what a server or a library says, without secrets and fit for a message."""
    return bounded(" ".join(redact(words).split()))


def _error_words(text: str) -> tuple[str, str]:
    """Return message and code of an error body in OpenAI's form, or the bare text."""
    try:
        error = orjson.loads(text)["error"]
        if isinstance(error, str):
            return error, ""
        return str(error.get("message") or ""), str(error.get("code") or "")
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError):
        return text.strip(), ""


def retry_after(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """Return the seconds that `Retry-After` asks to wait; None when it says nothing usable.

    Both forms of RFC 9110 §10.2.3, seconds and a date, and OpenAI's `retry-after-ms` are
    read. Zero, negative and unreadable values are None: the back-off then decides, so that
    a careless server never causes a loop without delay.
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            date = _date(value)
            if date is None:
                continue
            seconds = date - (time.time() if now is None else now)
        if 0 < seconds < float("inf"):
            return seconds
    return None


def _date(text: str) -> float | None:
    """The Unix time that an HTTP date names; without a zone it is UTC."""
    try:
        date = email.utils.parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
