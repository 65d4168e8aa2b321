"""What a reply's headers tell of the requests that are left."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_EPOCH = 1e8  # a number of seconds from here on is a time, not a wait
_MARK = b"ratelimit-"


@dataclass(frozen=True, slots=True)
class Quota:
    """Requests that a server still takes.

    Attributes:
        remaining: how many.
        limit: of how many; None when it does not say.
        reset: seconds until all of them are there again.
    """

    remaining: float
    limit: float | None
    reset: float

    @property
    def rate(self) -> float:
        """Requests a second that use up no more than comes back.

        Servers that tell the limit (OpenAI, Anthropic and their likes) fill a bucket steadily;
        of others it is taken that all comes back at once, at the end of a window.
        """
        if self.limit is None or self.limit <= self.remaining:
            return self.remaining / self.reset
        return (self.limit - self.remaining) / self.reset


def read_quota(headers: Iterable[tuple[bytes, bytes]], now: float) -> Quota | None:
    """Return what the headers of a reply tell; None when they tell nothing usable.

    Read are `x-ratelimit-{remaining,limit,reset}-requests` as OpenAI sends them (`6m0s`,
    `20ms`), `anthropic-ratelimit-requests-{remaining,limit,reset}` (an RFC 3339 time), and
    plain `x-ratelimit-{remaining,limit,reset}` and `ratelimit-…` (seconds, or a Unix time).

    Args:
        headers: names and values, as they came.
        now: Unix time.
    """
    found: dict[str, str] = {}
    for name, value in headers:
        if (at := name.lower().find(_MARK)) >= 0:
            words = name[at + len(_MARK) :].decode("latin-1").lower().split("-")
            kinds = [word for word in words if word != "requests"]
            if len(kinds) == 1:  # of tokens, of days and the like there are more
                found[kinds[0]] = value.decode("latin-1").strip()
    if not found:
        return None
    remaining = _number(found.get("remaining", ""))
    reset = _seconds(found.get("reset", ""), now)
    if remaining is None or reset is None or not 0 < reset < float("inf"):
        return None
    return Quota(remaining, _number(found.get("limit", "")), reset)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < float("inf") else None


def _seconds(text: str, now: float) -> float | None:
    """The seconds that a duration or a time of day says from now on."""
    if (number := _number(text)) is not None:
        return number - now if number > _EPOCH else number
    parts = _DURATION.findall(text)
    if parts and "".join(size + unit for size, unit in parts) == text:
        return sum(float(size) * _UNITS[unit] for size, unit in parts)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() - now
