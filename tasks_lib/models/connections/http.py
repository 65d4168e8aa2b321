"""Model endpoints over HTTP, through the openai client's own generic `post`.

The typed `create` spends most of its time turning requests and replies into models; the
generic post with bytes in and a raw response out costs half the CPU (0.53 against 1.11 ms
a call) and takes any body an adapter makes. The client's retries are off: `calls.py` has
the only retry layer.
"""

import asyncio
import base64
import re
import ssl
import time
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

from tasks_lib.errors import DefinitionError
from tasks_lib.models.call_id import CallId
from tasks_lib.models.connections.base import REQUEST_TIMEOUT, CallFailure
from tasks_lib.models.connections.reply_size import bound_reply
from tasks_lib.models.connections.status import one_line, status_failure
from tasks_lib.models.limits.quota import Quota, read_quota
from tasks_lib.secrets import clean_url, remember

_BASE_URL = re.compile(r"/(v\d+\w*|openai)/?$")


def call_url(url: str, path: str) -> str:
    """Return the address to post to: `url` itself, or with `path` where it is a base URL.

    `http://host/v1` is the base URL of an API and answers no post; a full address such as
    `http://host/v1/chat/completions` is taken as it is.
    """
    parts = urlsplit(url)
    if not _BASE_URL.search(parts.path):
        return url
    return urlunsplit(parts._replace(path=parts.path.rstrip("/") + path))


def public_url(url: str) -> str:
    """Return `url` without user, password, fragment and what of its query may be a secret."""
    return clean_url(urlunsplit(urlsplit(url)._replace(fragment="")))


class HttpClient:
    """Posts bodies to one address.

    It connects at the first call: a run answered by the ledger never imports the client.

    Args:
        url: the address, complete.
        api_key: sent as a bearer token; None sends none.
        headers: sent with every request.
        concurrency: calls in flight at most.
        verify: whether and against what the server's certificate is checked.
        timeout: seconds for one attempt, connection included.

    Raises:
        DefinitionError: nothing can be sent to this address, or with this key or header.
    """

    def __init__(
        self,
        url: str,
        api_key: str | None,
        headers: Mapping[str, str],
        concurrency: int,
        verify: ssl.SSLContext | bool = True,
        timeout: float = REQUEST_TIMEOUT,
    ) -> None:
        _check_url(url)
        for name, value in {"api_key": api_key or "", **headers}.items():
            _check_header(name, value)
        self.endpoint = public_url(url)
        self._url, basic = _without_user(url)
        self._api_key = api_key
        self._headers = {
            "Authorization" if name.lower() == "authorization" else name: value
            for name, value in headers.items()
        }
        if basic and api_key is None:
            self._headers.setdefault("Authorization", basic)
        self._concurrency = concurrency
        self._verify = verify
        self.timeout = timeout
        self._wire: _Wire | None = None
        self.on_quota: Callable[[Quota], None] = _ignore
        """Told what each reply says of the requests that are left."""

    async def send(self, body: bytes, call: CallId) -> bytes:
        if self._wire is None:
            self._wire = _Wire(self)
        return await self._wire.post(self._url, body)

    async def close(self) -> None:
        if self._wire is not None:
            await self._wire.client.close()


class _Wire:
    """The openai client of an `HttpClient`, made when it is first needed."""

    def __init__(self, settings: HttpClient) -> None:
        import httpx2
        import openai

        self._settings = settings
        self._status_error = openai.APIStatusError
        self._response_type = httpx2.Response
        self._unconnected = (httpx2.ConnectError, httpx2.ConnectTimeout)
        headers = {
            "content-type": "application/json",
            "accept-encoding": "gzip",
            **settings._headers,
        }
        keyless = settings._api_key is None and "Authorization" not in headers
        self._options: Any = {"headers": {"Authorization": openai.Omit()}} if keyless else {}
        # The limiter is the only queue: the pool must never be the narrower one.
        room = settings._concurrency + 8
        self.client = openai.AsyncOpenAI(
            base_url=urlunsplit((*urlsplit(settings._url)[:2], "/", "", "")),
            api_key=settings._api_key or "unused",
            default_headers=headers,
            max_retries=0,
            timeout=None,  # the client's own ends no reply that trickles in; `post` has one
            http_client=openai.DefaultAioHttpClient(
                limits=httpx2.Limits(max_connections=room, max_keepalive_connections=room),
                timeout=None,
                follow_redirects=False,  # a post would become a get, and take headers elsewhere
                event_hooks={"response": [bound_reply]},
                # a context of all the system's authorities takes 40 ms to make
                verify=settings._verify if urlsplit(settings._url).scheme == "https" else False,
            ),
        )

    async def post(self, url: str, body: bytes) -> bytes:
        """Return the reply's body.

        Raises:
            CallFailure: no reply, or one with an error status.
        """
        try:
            async with asyncio.timeout(self._settings.timeout):
                response = await self.client.post(
                    url, cast_to=self._response_type, content=body, options=self._options
                )
        except self._status_error as error:
            self._heed(error.response)
            text = error.response.content.decode("utf-8", "replace")
            raise status_failure(error.status_code, error.response.headers, text) from None
        except CallFailure:  # a reply of no use
            raise
        except TimeoutError:
            raise CallFailure(
                "infra",
                f"no reply within {self._settings.timeout:g} s",
                retryable=True,
                unanswered=True,
                fix="see whether its server works, or raise the model's timeout",
            ) from None
        except Exception as error:  # what aiohttp says of nonsense comes through unwrapped
            raise self._connection_failure(error) from None
        self._heed(response)
        content: bytes = response.content
        return content

    def _connection_failure(self, error: Exception) -> CallFailure:
        """Return what it means that the connection could not be made, or broke."""
        causes: list[BaseException] = [error]
        while (deeper := causes[-1].__cause__) is not None:
            causes.append(deeper)
        unconnected = any(isinstance(cause, self._unconnected) for cause in causes)
        insecure = any(isinstance(cause, ssl.SSLError) for cause in causes)
        cause = causes[min(1, len(causes) - 1)]
        words = f"{type(cause).__name__}: {cause}"
        if unconnected:
            words = _SSL_MODE.sub("", str(cause))
        return CallFailure(
            "infra",
            one_line(f"connection failed: {words}"),
            retryable=True,
            unanswered=unconnected,
            fix=_TLS_ADVICE if insecure else _ADDRESS_ADVICE if unconnected else "",
        )

    def _heed(self, response: Any) -> None:
        """Pass on what a reply tells of the requests that are left."""
        quota = read_quota(response.headers.raw, time.time())
        if quota is not None:
            self._settings.on_quota(quota)


def _ignore(quota: Quota) -> None:
    """Tell nobody."""


def _without_user(url: str) -> tuple[str, str | None]:
    """The URL without its user, and the `Authorization` that stands for it.

    Aiohttp takes no URL with a user in it beside that header.
    """
    parts = urlsplit(url)
    user, at, host = parts.netloc.rpartition("@")
    if not at:
        return url, None
    token = base64.b64encode(unquote(user).encode()).decode()
    remember(token)
    return urlunsplit(parts._replace(netloc=host)), f"Basic {token}"


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        complete = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        complete = False
    if not complete:
        raise DefinitionError(
            "its value is no http or https address", where="url", fix="write it as http://HOST/PATH"
        )


def _check_header(name: str, value: str) -> None:
    if not (value.isascii() and value.isprintable()):
        raise DefinitionError(
            "its value holds characters that no HTTP header can",
            where=name,
            fix="look for a line break or a letter that is not ASCII in it",
        )


_SSL_MODE = re.compile(r" ssl:\w+")  # aiohttp's own note in between
_ADDRESS_ADVICE = "check the model's url, and that its server is up"
_TLS_ADVICE = "name the authority of its certificate in the model's tls_context, or check the url"
