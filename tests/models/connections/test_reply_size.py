"""Replies without a bound of their own, and those that unpack to more than they are."""

import gzip
import zlib
from collections.abc import Callable

import pytest

from tasks_lib.models.connections import reply_size
from tests.models.connections.test_http import failure, post
from tests.models.wire import http as response
from tests.models.wire import serving

SMALL = 10_000


def chunked(body: bytes, **headers: str) -> bytes:
    """A response of one chunk that doesn't say its length beforehand."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n{lines}\r\n".encode()
    return head + b"%x\r\n" % len(body) + body + b"\r\n0\r\n\r\n"


def plain(body: bytes) -> bytes:
    return response(200, body)


def packed(body: bytes) -> bytes:
    return response(200, gzip.compress(body), content_encoding="gzip")


def packed_chunk(body: bytes) -> bytes:
    return chunked(gzip.compress(body), content_encoding="GZip")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reply_size, "MAX_REPLY", SMALL)


FORMS = pytest.mark.parametrize("form", [plain, chunked, packed, packed_chunk])


@FORMS
def test_a_reply_that_is_just_small_enough_arrives_whole(form: Callable[[bytes], bytes]):
    body = bytes(SMALL)
    with serving(form(body)) as wire:
        assert post(wire.url) == body


@FORMS
def test_a_longer_one_is_refused_and_not_asked_for_again(form: Callable[[bytes], bytes]):
    with serving(form(bytes(100 * SMALL))) as wire:
        refused = failure(wire.url)
    assert (refused.error_class, refused.retryable) == ("model", False)
    assert refused.problem == "the reply has more than 10,000 bytes"


def test_an_error_without_end_is_refused_too():
    body = bytes(SMALL + 1)
    with serving(response(500, body)) as wire:
        assert "more than 10,000 bytes" in failure(wire.url).problem


@pytest.mark.parametrize("body", [b"{}", gzip.compress(b"{}" * 500)[:-100]], ids=["none", "half"])
def test_what_is_no_gzip_is_asked_for_again(body: bytes):
    with serving(response(200, body[:1] + b"x" + body[1:], content_encoding="gzip")) as wire:
        spoilt = failure(wire.url)
    assert (spoilt.error_class, spoilt.retryable) == ("infra", True)
    assert "can't be unpacked" in spoilt.problem


def test_encodings_that_were_not_asked_for_are_not_unpacked():
    body = zlib.compress(bytes(100))
    with serving(response(200, body, content_encoding="deflate")) as wire:
        assert post(wire.url) == body
    assert wire.requests[0].headers["accept-encoding"] == "gzip"
