"""Secrets are revealed where used and shown nowhere."""

import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.secrets import clean_url, is_reference, is_secret, redact, reveal, variable_for


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("LAB_KEY", "sk-lab-0123")
    monkeypatch.setenv("LAB_EMPTY", "")
    monkeypatch.delenv("LAB_ABSENT", raising=False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("$LAB_KEY", "sk-lab-0123", id="a variable"),
        pytest.param("${LAB_KEY}", "sk-lab-0123", id="a variable in braces"),
        pytest.param("$LAB_KEY.x", "sk-lab-0123.x", id="text may follow"),
        pytest.param("Bearer $LAB_KEY", "Bearer sk-lab-0123", id="after a scheme"),
        pytest.param("<< secrets.lab >>", "sk-lab-0123", id="declared, kept in the environment"),
        pytest.param("<<secrets.plain>>", "hunter2x", id="declared literally"),
        pytest.param("Bearer << secrets.lab >>", "Bearer sk-lab-0123", id="declared, in text"),
        pytest.param("as written $LAB_KEY", "as written $LAB_KEY", id="a later dollar is text"),
        pytest.param("literal-value", "literal-value", id="a literal"),
    ],
)
def test_reveal(text, expected):
    assert reveal(text, {"lab": "$LAB_KEY", "plain": "hunter2x"}) == expected


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("$LAB_ABSENT", "'LAB_ABSENT' is not set; set it", id="an unset variable"),
        pytest.param("$LAB_EMPTY", "'LAB_EMPTY' is empty", id="an empty variable"),
        pytest.param("<< secrets.lob >>", "secret 'lob' is not declared", id="an unknown secret"),
    ],
)
def test_a_missing_secret_says_what_to_do(text, words):
    with pytest.raises(DefinitionError, match=words):
        reveal(text, {"lab": "$LAB_KEY"})


def test_what_was_revealed_is_redacted_in_every_form():
    reveal("Bearer tok/en+9876", {}, name="Authorization")
    echoed = "401: got 'Bearer tok/en+9876', tok/en+9876, ?k=tok%2Fen%2B9876"
    assert "9876" not in redact(echoed)
    assert redact(echoed).startswith("401: got '***'")


def test_a_plain_header_is_neither_secret_nor_redacted():
    assert reveal("laboratory", {}, name="X-Org") == "laboratory"
    assert redact("org laboratory") == "org laboratory"


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        pytest.param("api_key", "x", True, id="by name"),
        pytest.param("Authorization", "x", True, id="a header that carries credentials"),
        pytest.param("x-functions-key", "x", True, id="a name ending in key"),
        pytest.param("X-Org", "lab", False, id="an ordinary header"),
        pytest.param("X-Trace", "sk-CANARY-4", True, id="a value that looks like a key"),
        pytest.param("X-Any", "Bearer abc", True, id="a value with a scheme"),
        pytest.param("monkey", "banana", False, id="key inside a word"),
        pytest.param("Accept", "application/vnd.company.v2+json", False, id="a media type"),
    ],
)
def test_is_secret(name, value, secret):
    assert is_secret(name, value) is secret


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("$A", True),
        ("${A}$B", True),
        ("<< secrets.a >>", True),
        ("Bearer $A", True),
        ("$A-and-more", False),
        ("sk-1", False),
    ],
)
def test_is_reference(text, reference):
    assert is_reference(text) is reference


def test_br_099_a_url_loses_its_credentials_and_keeps_its_host():
    url = "http://user:CANARY-2@127.0.0.1:9/v1?token=CANARY-3&version=2"
    assert clean_url(url) == "http://127.0.0.1:9/v1?version=2"
    assert "CANARY" not in redact(f"cannot connect to {url}")
    assert clean_url("https://host/v1?b=1&a=%20") == "https://host/v1?b=1&a=%20"


def test_a_stored_literal_names_the_variable_to_set():
    assert variable_for("my-model", "api_key") == "$MY_MODEL_API_KEY"
    assert variable_for("openai$gpt-4", "X-Auth") == "$OPENAI_GPT_4_X_AUTH"
