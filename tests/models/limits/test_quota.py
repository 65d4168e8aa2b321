from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.models.limits.quota import Quota, read_quota

NOW = 1_800_000_000.0


def read(**headers: str) -> Quota | None:
    raw = [(k.replace("_", "-").encode(), v.encode()) for k, v in headers.items()]
    return read_quota([(b"content-type", b"application/json"), *raw], NOW)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1),
        ("20ms", 0.02),
        ("6m0s", 360),
        ("1h2m3.5s", 3723.5),
        ("12", 12),
        ("0.5", 0.5),
        pytest.param(str(NOW + 30), 30, id="a Unix time"),
        pytest.param("2027-01-15T08:00:40Z", 40, id="a time of day"),
        pytest.param("2027-01-15T08:00:40", 40, id="without a zone it is UTC"),
    ],
)
def test_what_is_left_and_when_all_is_back_is_read(text: str, seconds: float):
    assert datetime(2027, 1, 15, 8, tzinfo=UTC).timestamp() == NOW
    quota = read(
        x_ratelimit_limit_requests="60",
        x_ratelimit_remaining_requests="59",
        x_ratelimit_reset_requests=text,
        x_ratelimit_remaining_tokens="1",
        x_ratelimit_reset_tokens="9s",
    )
    assert quota is not None
    assert (quota.remaining, quota.limit) == (59, 60)
    assert quota.reset == pytest.approx(seconds)


def test_anthropic_and_plain_names_are_read_in_any_case():
    anthropic = read(
        Anthropic_RateLimit_Requests_Limit="50",
        anthropic_ratelimit_requests_remaining="49",
        anthropic_ratelimit_requests_reset="2027-01-15T08:00:02Z",
        anthropic_ratelimit_input_tokens_remaining="0",
    )
    assert anthropic == Quota(49, 50, 2.0)
    assert read(x_ratelimit_remaining="3", x_ratelimit_reset="10") == Quota(3, None, 10.0)
    assert read(RateLimit_Remaining="3", RateLimit_Reset="10") == Quota(3, None, 10.0)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"x_ratelimit_remaining_requests": "5"},
        {"x_ratelimit_reset_requests": "5s"},
        {"x_ratelimit_remaining_requests": "many", "x_ratelimit_reset_requests": "5s"},
        {"x_ratelimit_remaining_requests": "-1", "x_ratelimit_reset_requests": "5s"},
        {"x_ratelimit_remaining_requests": "5", "x_ratelimit_reset_requests": "0s"},
        {"x_ratelimit_remaining_requests": "5", "x_ratelimit_reset_requests": "soon"},
        {"x_ratelimit_remaining_requests": "5", "x_ratelimit_reset_requests": "nan"},
        {"x_ratelimit_remaining_tokens": "5", "x_ratelimit_reset_tokens": "5s"},
    ],
)
def test_what_tells_nothing_usable_is_ignored(headers: dict[str, str]):
    assert read(**headers) is None


def test_the_rate_is_what_comes_back():
    assert Quota(10, 60, 50.0).rate == 1.0, "a bucket that fills steadily"
    assert Quota(10, None, 50.0).rate == 0.2, "a window that ends"
    assert Quota(60, 60, 30.0).rate == 2.0


@given(st.lists(st.tuples(st.binary(max_size=30), st.binary(max_size=20)), max_size=5))
def test_no_header_breaks_it(headers: list[tuple[bytes, bytes]]):
    names = [b"x-ratelimit-remaining-requests", b"x-ratelimit-reset-requests", b"ratelimit-"]
    spiced = [(names[i % 3] if i % 2 else name, value) for i, (name, value) in enumerate(headers)]
    quota = read_quota(spiced, NOW)
    assert quota is None or (quota.remaining >= 0 and quota.reset > 0)
