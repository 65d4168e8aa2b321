"""`custom_connection`: any HTTP endpoint that takes a JSON body by POST."""

import base64
import ssl
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from tasks_lib.base import Definition
from tasks_lib.errors import DefinitionError
from tasks_lib.models.connections.base import BaseConnection, ModelInfo
from tasks_lib.models.connections.http import HttpClient, call_url
from tasks_lib.secrets import clean_url, reveal


class AdapterReference(Definition):
    """Which adapter shapes requests and replies."""

    key: str
    """Key of a built-in adapter, such as `latticeflow$identity`, or of a declared one."""


class ValidationContext(Definition):
    """How the server's certificate is checked."""

    trusted_ca: str | None = None
    """Base64 of the PEM file of a certificate authority to trust."""
    trust_chain_verification: Literal["verify_trust_chain", "accept_untrusted"] = (
        "verify_trust_chain"
    )
    """`accept_untrusted` accepts any certificate: for tests only."""


class TlsContext(Definition):
    """TLS settings of a connection."""

    validation_context: ValidationContext | None = None
    """How the server's certificate is checked; by the system's authorities when left out."""


HeaderValue = str | bool | int | float


def _http_url(url: str) -> str:
    if url.startswith("$"):
        return url
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"'{clean_url(url)}' is no http or https address")
    return url


def _printable(headers: dict[str, HeaderValue]) -> dict[str, HeaderValue]:
    for name, value in headers.items():
        if not (name + str(value)).isascii() or not (name + str(value)).isprintable():
            raise ValueError(f"header '{name}' must be printable ASCII")
    return headers


class CustomConnection(BaseConnection):
    """A model behind an HTTP endpoint of its own."""

    default_adapter: ClassVar[str] = "latticeflow$identity"

    connection_type: Literal["custom_connection"] = "custom_connection"
    url: Annotated[str, AfterValidator(_http_url)]
    """Address that requests are posted to; a base URL ending in `/v1` gets the API's path."""
    adapter: AdapterReference | None = None
    """Adapter; default `latticeflow$identity`, which passes JSON through."""
    api_key: str | None = None
    """Sent as `Authorization: Bearer`; write `$NAME` or `<< secrets.NAME >>`."""
    model_key: str | None = None
    """The provider's own name of the model."""
    tls_context: TlsContext | None = None
    """TLS settings, for servers with a certificate of their own."""
    custom_headers: Annotated[dict[str, HeaderValue], AfterValidator(_printable)] = Field(
        default_factory=dict
    )
    """Headers sent with every request; values may be `$NAME` or `<< secrets.NAME >>`."""

    @property
    def adapter_key(self) -> str:
        return self.adapter.key if self.adapter else self.default_adapter

    @property
    def provider_model(self) -> str:
        return self.model_key or ""

    def open(
        self, info: ModelInfo, path: str, concurrency: int, secrets: Mapping[str, str]
    ) -> HttpClient:
        headers = {
            name: reveal(value, secrets, name) if isinstance(value, str) else _header_text(value)
            for name, value in self.custom_headers.items()
        }
        return HttpClient(
            call_url(reveal(self.url, secrets, "url"), path),
            reveal(self.api_key, secrets, "api_key") if self.api_key else None,
            headers,
            concurrency,
            self._verification(secrets),
            info.timeout,
        )

    def _verification(self, secrets: Mapping[str, str]) -> "ssl.SSLContext | bool":
        context = self.tls_context.validation_context if self.tls_context else None
        if context is None:
            return True
        if context.trust_chain_verification == "accept_untrusted":
            return False
        if context.trusted_ca is None:
            return True
        return _trusting(reveal(context.trusted_ca, secrets, "trusted_ca"))


def _header_text(value: float | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _trusting(encoded: str) -> ssl.SSLContext:
    try:
        pem = base64.b64decode("".join(encoded.split()), validate=True).decode("ascii")
        return ssl.create_default_context(cadata=pem)
    except (ValueError, ssl.SSLError) as error:
        raise DefinitionError(
            f"its value is no base64 of a PEM file: {error}",
            where="tls_context.validation_context.trusted_ca",
            fix="encode the certificate of the authority with: base64 FILE.pem",
        ) from None
