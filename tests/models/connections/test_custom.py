import asyncio
import base64
import ipaddress
import ssl
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tasks_lib.definitions.model import Model
from tasks_lib.errors import DefinitionError, SampleError
from tasks_lib.models.connections.base import CallFailure, Client, ModelInfo
from tasks_lib.models.connections.custom import CustomConnection
from tasks_lib.models.connections.placeholder import PlaceholderConnection
from tasks_lib.models.connections.provider import PROVIDER_URLS, ProviderConnection
from tests.fake_openai import RunningServer
from tests.models.calling import asked, endpoint, said, service_of
from tests.models.connections.calls import call_id, client_of, request
from tests.models.wire import chat, serving
from tests.models.wire import http as response


def connection(**fields: Any) -> CustomConnection:
    return CustomConnection.model_validate({"url": "http://127.0.0.1:9/v1", **fields})


def post(client: Client) -> bytes:
    async def main() -> bytes:
        try:
            return await client.send(request("hi"), call_id())
        finally:
            await client.close()

    return asyncio.run(main())


# what may be written


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        ({"url": "host/v1"}, "'host/v1' is no http or https address"),
        ({"url": "file:///etc/passwd"}, "no http or https address"),
        ({"custom_headers": {"X-A": "a\nb"}}, "header 'X-A' must be printable ASCII"),
        ({"custom_headers": {"X-Ä": "a"}}, "must be printable ASCII"),
        ({"api-key": "x"}, "Extra inputs"),
        ({"adapter": "latticeflow$identity"}, "valid dictionary"),
    ],
)
def test_what_can_not_be_sent_is_refused_when_it_is_read(fields: dict[str, Any], complaint: str):
    with pytest.raises(ValidationError, match=complaint):
        connection(**fields)


@pytest.mark.parametrize(
    ("value", "text"),
    [("lab", "lab"), (True, "true"), (20241012345, "20241012345"), (0.1, "0.1"), (1, "1")],
)
def test_headers_are_sent_as_they_are_written(value: Any, text: str):
    with serving(chat("OK")) as server:
        post(client_of(connection(url=server.url, custom_headers={"X-A": value})))
    assert server.requests[0].headers["x-a"] == text


# secrets


def test_key_headers_and_address_come_from_where_they_are_kept(monkeypatch: pytest.MonkeyPatch):
    with serving(chat("OK")) as server:
        monkeypatch.setenv("LAB_URL", server.url)
        monkeypatch.setenv("LAB_KEY", "sk-lab-1234567")
        model = connection(
            url="$LAB_URL",
            api_key="<< secrets.key >>",
            custom_headers={"X-Trace": "Bearer $LAB_KEY"},
        )
        info = ModelInfo("lab", "")
        post(model.open(info, "/chat/completions", 1, {"key": "$LAB_KEY"}))
    assert server.requests[0].path == "/v1/chat/completions"
    assert server.requests[0].headers["authorization"] == "Bearer sk-lab-1234567"
    assert server.requests[0].headers["x-trace"] == "Bearer sk-lab-1234567"


@pytest.mark.parametrize(
    ("fields", "environment", "complaint"),
    [
        ({"api_key": "$LAB_KEY"}, {}, "api_key: environment variable 'LAB_KEY' is not set; set it"),
        ({"api_key": "$LAB_KEY"}, {"LAB_KEY": ""}, "variable 'LAB_KEY' is empty"),
        ({"api_key": "<< secrets.k >>"}, {}, "api_key: secret 'k' is not declared; add"),
        ({"api_key": "$LAB_KEY"}, {"LAB_KEY": "sk-1\n"}, "api_key: its value holds characters"),
        (
            {"url": "$LAB_URL"},
            {"LAB_URL": "nonsense"},
            "url: its value is no http or https address",
        ),
        (
            {"tls_context": {"validation_context": {"trusted_ca": "!"}}},
            {},
            "trusted_ca: its value is no base64 of a PEM file",
        ),
        (
            {"tls_context": {"validation_context": {"trusted_ca": "aGVsbG8="}}},
            {},
            "trusted_ca: its value is no base64 of a PEM file",
        ),
    ],
)
def test_what_is_missing_or_wrong_shows_before_the_first_call(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fields: dict[str, Any],
    environment: dict[str, str],
    complaint: str,
):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    async def main() -> None:
        async with service_of(tmp_path, endpoint(**{"url": "http://h/v1", **fields})) as service:
            with pytest.raises(DefinitionError) as caught:
                service.model("lab")
        assert str(caught.value).startswith("model 'lab': ")
        assert complaint in str(caught.value)

    asyncio.run(main())


def test_no_secret_gets_into_errors_or_the_ledger(tmp_path: Path):
    """BR-099."""
    headers = {"Authorization": "Bearer CANARY-5-abcdef", "X-Org": "lab"}

    def echo(sent: Any) -> bytes:
        return response(401, f"bad credentials in {sent.headers}, {sent.path}")

    with serving(echo, echo, chat("fine")) as server:
        url = server.url.replace("http://", "http://user:CANARY-2@") + "?token=CANARY-3"
        model = endpoint(url, api_key="sk-CANARY-4", custom_headers=headers)

        async def main() -> list[str]:
            async with service_of(tmp_path, model) as service:
                errors = []
                for _ in range(2):
                    with pytest.raises(SampleError) as caught:
                        await asked(service, "hi")
                    errors.append(str(caught.value))
                await asked(service, "hi")
                return [*errors, service.model("lab").identity]

        told = asyncio.run(main())
    assert server.requests[0].headers["authorization"] == "Bearer CANARY-5-abcdef"
    assert server.requests[0].path == "/v1/chat/completions?token=CANARY-3"
    stored = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert b"fine" in stored
    for text in (*told, stored.decode("utf-8", "replace")):
        assert "CANARY" not in text
    assert "'x-org': 'lab'" in told[0]
    assert told[-1] == f"http://{server.host}/v1/chat/completions m"


# TLS


@pytest.fixture(scope="module")
def https(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """Address of a server with a certificate of its own, and that as base64 of PEM."""
    x509 = pytest.importorskip("cryptography.x509")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    host = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([host]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    file = tmp_path_factory.mktemp("tls") / "server.pem"
    file.write_bytes(
        pem
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.wfile.write(chat("OK"))

        def log_message(self, *words: object) -> None:
            return None

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}/v1", base64.b64encode(pem).decode()
        server.shutdown()
        thread.join()


def test_a_certificate_is_checked_as_asked_for(https: tuple[str, str]):
    url, authority = https

    def send(validation: dict[str, str] | None) -> bytes:
        tls = {} if validation is None else {"tls_context": {"validation_context": validation}}
        return post(client_of(connection(url=url, **tls)))

    with pytest.raises(CallFailure, match="certificate"):
        send(None)
    assert b"OK" in send({"trusted_ca": authority})
    assert b"OK" in send({"trust_chain_verification": "accept_untrusted"})


# providers


def test_a_provider_is_called_with_its_key_from_the_environment(
    tmp_path: Path, fake_server: RunningServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-provider-1234")
    monkeypatch.setenv("OPENAI_BASE_URL", fake_server.base_url + "/")
    config = {
        "connection_type": "provider_connection",
        "provider_id": "openai",
        "model_key": "gpt-4.1-nano/x",
    }
    model = Model.model_validate({"key": "openai$x", "display_name": "x", "config": config})

    async def main() -> str:
        async with service_of(tmp_path, model) as service:
            assert service.model("openai$x").identity.endswith("/chat/completions gpt-4.1-nano/x")
            return said(await asked(service, "ANSWER=yes", key="openai$x"))

    assert asyncio.run(main()) == "yes"


def test_every_provider_has_an_address_and_needs_its_key(monkeypatch: pytest.MonkeyPatch):
    for provider in PROVIDER_URLS:
        model = ProviderConnection(
            connection_type="provider_connection", provider_id=provider, model_key="m"
        )
        with pytest.raises(DefinitionError, match=f"'{provider.upper()}_API_KEY' is not set"):
            client_of(model)
        monkeypatch.setenv(f"{provider.upper()}_API_KEY", "sk-1234567")
        assert client_of(model).endpoint == PROVIDER_URLS[provider] + "/chat/completions"


def test_a_placeholder_answers_with_empty_text(tmp_path: Path):
    config = PlaceholderConnection(connection_type="placeholder")
    model = Model(key="later", display_name="Later", config=config)

    async def main() -> Any:
        async with service_of(tmp_path, model) as service:
            return await asked(service, "hi", key="later")

    output = asyncio.run(main())
    assert (said(output), output.finish_reason, output.output_tokens) == ("", "stop", 0)
