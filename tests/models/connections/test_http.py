import asyncio
import email.utils
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import DefinitionError
from tasks_lib.models.connections.base import CallFailure
from tasks_lib.models.connections.http import HttpClient, call_url, public_url
from tasks_lib.models.connections.status import retry_after, status_failure
from tasks_lib.secrets import reveal
from tests.fake_openai import RunningServer
from tests.models.connections.calls import call_id, request
from tests.models.wire import chat, serving
from tests.models.wire import http as response


def post(
    url: str,
    body: bytes = b"{}",
    *,
    api_key: str | None = None,
    headers: dict[str, str] | None = None,
    timeout: float = 30.0,
) -> bytes:
    """Send one body through a client of its own."""

    async def send() -> bytes:
        client = HttpClient(url, api_key, headers or {}, 1, timeout=timeout)
        try:
            return await client.send(body, call_id())
        finally:
            await client.close()

    return asyncio.run(send())


def failure(url: str, body: bytes = b"{}", **options: Any) -> CallFailure:
    with pytest.raises(CallFailure) as caught:
        post(url, body, **options)
    return caught.value


# redirects


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_is_followed_and_no_key_taken_elsewhere(status: int):
    with serving(chat("stolen")) as other:
        elsewhere = f"http://user:CANARY@{other.host}/v1?token=CANARY"
        with serving(response(status, location=elsewhere)) as wire:
            refused = failure(wire.url, headers={"X-Api-Key": "sk-CANARY-1"})
    assert other.requests == []
    assert (refused.retryable, refused.status) == (False, status)
    assert f"it has moved to 'http://{other.host}/v1'" in refused.problem
    assert "CANARY" not in refused.problem
    assert refused.fix == "write the new address as the model's url, if it is to be trusted"


def test_words_of_several_lines_are_told_in_one():
    with serving(response(401, "no\n\n  such\tkey\r\n")) as wire:
        assert failure(wire.url).problem == "HTTP 401: no such key"
    with serving(b"SSH-2.0-OpenSSH\r\n connection: close") as wire:
        assert "\n" not in failure(wire.url).problem


# addresses


@pytest.mark.parametrize(
    ("url", "path", "posted_to"),
    [
        ("http://h/v1", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1/", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1beta/openai/", "/chat/completions", "http://h/v1beta/openai/chat/completions"),
        ("http://h/v1/chat/completions", "/chat/completions", "http://h/v1/chat/completions"),
        ("http://h/v1?a=1", "/responses", "http://h/v1/responses?a=1"),
        ("http://u:p@h:1/v1?t=x#f", "/responses", "http://u:p@h:1/v1/responses?t=x#f"),
        ("http://h/predict", "/chat/completions", "http://h/predict"),
        ("http://h/v1", "", "http://h/v1"),
    ],
)
def test_a_base_url_gets_the_path_of_the_api(url: str, path: str, posted_to: str):
    assert call_url(url, path) == posted_to


@pytest.mark.parametrize(
    ("url", "public"),
    [
        pytest.param(
            "http://user:CANARY-2@127.0.0.1:9/v1?token=CANARY-3",
            "http://127.0.0.1:9/v1",
            id="BR-099",
        ),
        ("http://h/v1?api-version=2024-10", "http://h/v1?api-version=2024-10"),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1"),
        ("https://h/v1#fragment", "https://h/v1"),
    ],
)
def test_the_endpoint_is_the_url_without_what_may_be_secret(url: str, public: str):
    assert public_url(url) == public
    assert HttpClient(url, None, {}, 1).endpoint == public


@pytest.mark.parametrize("url", ["", "h/v1", "ftp://h/v1", "http://", "http://[::1", "http://h:x/"])
def test_an_address_that_takes_no_post_is_refused_without_showing_it(url: str):
    with pytest.raises(DefinitionError, match=r"^url: its value is no http or https address; "):
        HttpClient(url, None, {}, 1)


@pytest.mark.parametrize("value", ["key\n", "schlüssel", "a\tb", "x\0"])
@pytest.mark.parametrize("name", ["api_key", "X-Token"])
def test_what_no_header_can_hold_is_refused_without_showing_it(name: str, value: str):
    key, headers = (value, {}) if name == "api_key" else (None, {name: value})
    with pytest.raises(DefinitionError, match=f"^{name}: its value holds characters") as caught:
        HttpClient("http://h/v1", key, headers, 1)
    assert value not in str(caught.value)


# what is sent


def test_the_body_arrives_as_it_is_with_key_and_headers():
    body = '{"messages":[],"text":"\\ud800 ü \x7f"}'.encode()
    with serving(chat("OK")) as server:
        post(server.url, body, api_key="sk-lab-1234", headers={"X-Org": "lab"})
    (sent,) = server.requests
    assert (sent.path, sent.body) == ("/v1", body)
    assert sent.headers["authorization"] == "Bearer sk-lab-1234"
    assert sent.headers["x-org"] == "lab"
    assert sent.headers["content-type"] == "application/json"


def test_without_a_key_no_authorization_is_sent():
    with serving(chat("OK")) as server:
        post(server.url)
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("name", ["Authorization", "authorization"])
@pytest.mark.parametrize("api_key", [None, "sk-other-1234"])
def test_an_authorization_header_of_its_own_wins(name: str, api_key: str | None):
    with serving(chat("OK")) as server:
        post(server.url, headers={name: "Token abc"}, api_key=api_key)
    assert server.requests[0].headers["authorization"] == "Token abc"


def test_a_user_in_the_url_is_sent_as_basic_authorization():
    with serving(chat("OK")) as server:
        post(server.url.replace("http://", "http://user:pass@"))
    assert server.requests[0].headers["authorization"] == "Basic dXNlcjpwYXNz"


# what comes back


def test_the_reply_is_the_body_as_it_came():
    body = '{"text": "\\ud800 ü","n":123456789012345678901234567890}\n'.encode()
    with serving(response(200, body)) as server:
        assert post(server.url) == body


@pytest.mark.parametrize(
    ("status", "error_class", "retryable"),
    [
        (400, "model", False),
        (401, "infra", False),
        (403, "infra", False),
        (404, "infra", False),
        (408, "infra", True),
        (409, "infra", True),
        (413, "model", False),
        (422, "model", False),
        (425, "infra", True),
        (429, "infra", True),
        (500, "infra", True),
        (503, "infra", True),
        (529, "infra", True),
    ],
)
def test_a_status_tells_whose_fault_it_is_and_whether_to_try_again(
    status: int, error_class: str, retryable: bool
):
    with serving(response(status, {"error": {"message": "no", "code": "why"}})) as server:
        found = failure(server.url)
    assert (found.error_class, found.retryable, found.status) == (error_class, retryable, status)
    assert found.problem == f"HTTP {status} (why): no"
    assert len(server.requests) == 1, "the client itself tries nothing again"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<html>Bad gateway</html>", "HTTP 502: <html>Bad gateway</html>"),
        ("", "HTTP 502"),
        ('{"error": "overloaded"}', "HTTP 502: overloaded"),
        ('{"error": {"message": null, "code": 7}}', "HTTP 502 (7)"),
        ('{"error": null}', 'HTTP 502: {"error": null}'),
        ('["x"]', 'HTTP 502: ["x"]'),
        ("\xff\xfe", "HTTP 502: \xff\xfe"),
    ],
)
def test_the_words_of_an_error_are_found_in_any_body(body: str, words: str):
    with serving(response(502, body)) as server:
        assert failure(server.url).problem == words


def test_an_error_in_an_unknown_encoding_is_still_an_error_status():
    with serving(
        response(500, b"\xff boom", content_type="text/plain; charset=nonsense")
    ) as server:
        assert failure(server.url).problem == "HTTP 500: \ufffd boom"


def test_a_long_error_is_cut():
    with serving(response(500, "x" * 100_000)) as server:
        assert len(failure(server.url).problem) <= 300


@pytest.mark.parametrize(
    ("fault", "words"),
    [("reset", "connection failed: "), ("truncate", "connection failed: ")],
)
def test_a_broken_connection_can_be_tried_again(fake_server: RunningServer, fault: str, words: str):
    found = failure(fake_server.base_url + "/chat/completions", request(f"FAULT={fault}"))
    assert (found.error_class, found.retryable, found.status) == ("infra", True, 0)
    assert words in found.problem


def test_nobody_listening_can_be_tried_again():
    with serving(chat("OK")) as server:
        url = server.url
    found = failure(url)
    assert (found.error_class, found.retryable) == ("infra", True)
    assert found.problem.startswith("connection failed: ")


def test_an_error_that_breaks_off_can_be_tried_again():
    cut = response(500, "short", content_length="100", connection="close")
    with serving(cut) as server:
        found = failure(server.url)
    assert (found.error_class, found.retryable) == ("infra", True)


def test_bytes_that_are_no_http_can_be_tried_again():
    with serving(b"SSH-2.0-OpenSSH connection: close\r\n") as server:
        found = failure(server.url)
    assert (found.error_class, found.retryable) == ("infra", True)


def test_a_body_that_is_not_as_encoded_as_it_says_can_be_tried_again():
    with serving(response(200, b"plain", content_encoding="gzip")) as server:
        found = failure(server.url)
    assert (found.error_class, found.retryable) == ("infra", True)


def test_a_server_that_hangs_is_given_up(fake_server: RunningServer):
    url = fake_server.base_url + "/chat/completions"
    found = failure(url, request("FAULT=hang"), timeout=0.2)
    assert (found.error_class, found.retryable, found.unanswered) == ("infra", True, True)
    assert found.problem == "no reply within 0.2 s"


def test_a_reply_that_trickles_in_is_given_up_too():
    begun = response(200, "[1,", content_length="100")
    with serving(begun) as server:
        assert failure(server.url, timeout=0.2).problem == "no reply within 0.2 s"


def test_secrets_that_the_server_echoes_are_hidden_also_where_the_text_is_cut():
    """BR-099."""
    key = reveal("sk-CANARY-4-" + "k" * 40, {}, "api_key")
    padding = "p" * 110

    def echo(sent):
        return response(401, f"{padding}{sent.headers}{padding * 3}")

    with serving(echo) as server:
        url = reveal(server.url.replace("http://", "http://user:CANARY-2@"), {}, "url")

        async def send() -> None:
            client = HttpClient(url, key, {"X-Org": "lab"}, 1)
            try:
                await client.send(b"{}", call_id())
            finally:
                await client.close()

        with pytest.raises(CallFailure) as caught:
            asyncio.run(send())
    for secret in ("CANARY", "kkkkkk", "dXNlcjpDQU5BUlktMg"):
        assert secret not in str(caught.value)
    assert "HTTP 401" in str(caught.value)


# Retry-After


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="absent"),
        pytest.param({"retry-after": "90"}, 90.0, id="seconds"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="parts of a second"),
        pytest.param({"retry-after": "0"}, None, id="zero: our own back-off decides"),
        pytest.param({"retry-after": "-5"}, None, id="negative"),
        pytest.param({"retry-after": "abc"}, None, id="unreadable"),
        pytest.param({"retry-after": "nan"}, None, id="nan"),
        pytest.param({"retry-after": "inf"}, None, id="inf"),
        pytest.param({"retry-after": "86400"}, 86400.0, id="a day"),
        pytest.param({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 60.0, id="a date"),
        pytest.param({"retry-after": "Wed Oct 21 07:28:00 2026"}, 60.0, id="an asctime date"),
        pytest.param({"retry-after": "Wed, 21 Oct 2026 07:26:00 GMT"}, None, id="a date gone by"),
        pytest.param({"retry-after-ms": "250"}, 0.25, id="milliseconds"),
        pytest.param({"retry-after-ms": "250", "retry-after": "1"}, 0.25, id="the finer one"),
        pytest.param({"retry-after-ms": "0", "retry-after": "90"}, 90.0, id="the usable one"),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None):
    """BR-022."""
    now = email.utils.parsedate_to_datetime("Wed, 21 Oct 2026 07:27:00 GMT").timestamp()
    assert retry_after(headers, now) == seconds


@given(st.text())
def test_any_retry_after_is_a_wait_or_nothing(value: str):
    seconds = retry_after({"retry-after": value}, 0.0)
    assert seconds is None or 0 < seconds < math.inf


def test_only_what_is_tried_again_waits():
    assert status_failure(400, {"retry-after": "90"}, "").retry_after is None
    assert status_failure(503, {"retry-after": "90"}, "").retry_after == 90.0
