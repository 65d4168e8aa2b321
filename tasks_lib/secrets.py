"""Secrets: written as references, revealed where they are used, redacted everywhere else.

Definitions keep `$NAME`, `${NAME}` and `<< secrets.X >>` as written; only the code that sends a
secret reveals it, and what was revealed is remembered so that no message can show it.
"""

import html
import json
import os
import re
from collections.abc import Mapping
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlencode, urlsplit, urlunsplit

from tasks_lib.errors import DefinitionError

SECRET_FIELDS = frozenset(
    {"api_key", "client_secret", "access_key_id", "secret_access_key", "session_token"}
)
"""Fields of connections that hold nothing but a secret."""

_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_NAMED = re.compile(r"<<\s*secrets\.([A-Za-z0-9_-]+)\s*>>")
_SCHEME = re.compile(r"^(?:bearer|basic|token)\s+", re.IGNORECASE)
_REFERENCE = re.compile(
    rf"\s*(?:(?:bearer|basic|token)\s+)?(?:(?:{_VARIABLE.pattern})+|{_NAMED.pattern})\s*",
    re.IGNORECASE,
)
_SECRET_NAME = re.compile(
    r"api.?key|secret|token|passw|pwd|passphrase|auth(?!ors?$)|credential|cookie|signature|private"
    r"|access.?key|session|^(?:key|sig|pass|pat|jwt)$|[-_](?:key|sig|pass|pat|jwt)$",
    re.IGNORECASE,
)
_SECRET_LOOK = re.compile(
    r"(?i:bearer|basic|token)\s+\S|(?:sk|pk|rk|gsk|xai|ghp|gho|hf|AIza|AKIA|xox[a-z])[-_]?\w{2,}"
    r"|eyJ[\w-]+\.|(?=[^\s/]*\d)(?=[^\s/]*[A-Za-z])[A-Za-z0-9_+=.-]{24,}$",
)

_KEEPS_SECRET = re.compile(
    r"(?:api|access|private|secret|encryption).?key|secret|token|passw(?:or)?d|credential",
    re.IGNORECASE,
)

_MIN_REDACTED = 6  # shorter values occur in ordinary words
_MIN_OF_ENVIRONMENT = 12  # nobody said that these are secrets; shorter ones may be words

_revealed: set[str] = set()
_pattern: re.Pattern[str] | None = None


def reveal(text: str, secrets: Mapping[str, str], name: str = "secret") -> str:
    """Return the value `text` stands for, and remember it for `redact`.

    Args:
        text: `$NAME` or `${NAME}` (environment, also after `Bearer `), `<< secrets.X >>`, or
            the value itself.
        secrets: name -> value or `$NAME`, as declared in the files.
        name: of the field or header; a literal under a name that holds no secrets
            (`X-Org`) is not remembered. Of a URL only its password and keys are.

    Raises:
        DefinitionError: a variable or a secret is missing or empty.
    """

    def named(match: re.Match[str]) -> str:
        key = match[1]
        if key not in secrets:
            raise DefinitionError(
                f"secret '{key}' is not declared",
                where=name,
                fix=f"add '{key}: $YOUR_VARIABLE' under 'secrets:'",
            )
        return _expand(secrets[key], name)

    value = _NAMED.sub(named, text) if _NAMED.search(text) else _expand(text, name)
    if "://" in value:
        clean_url(value)
    elif value != text or is_secret(name, value):
        remember(value)
    return value


def is_reference(text: str) -> bool:
    """Return whether `text` only names where a secret is kept, so that it may be stored."""
    return _REFERENCE.fullmatch(text) is not None


def secret_names(text: str) -> list[str]:
    """Return the names of all `<< secrets.NAME >>` in `text`."""
    return _NAMED.findall(text)


def is_secret(name: str, value: str) -> bool:
    """Return whether a literal `value` under `name` (a field, header or variable) is a secret."""
    return bool(_SECRET_NAME.search(name) or _SECRET_LOOK.match(value))


def variable_for(owner: str, name: str) -> str:
    """Return the reference that stands in for a literal secret once a definition is stored.

    `variable_for("my-model", "api_key")` is `$MY_MODEL_API_KEY`.
    """
    words = re.sub(r"[^A-Za-z0-9]+", "_", f"{owner}_{name}").strip("_").upper()
    return f"$_{words}" if words[:1].isdigit() else f"${words}"


def clean_url(url: str) -> str:
    """Return `url` without user, password and secret query values, which are remembered."""
    try:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
    except ValueError:
        return url
    for value in (parts.password, *(value for key, value in pairs if is_secret(key, value))):
        if value:
            remember(value)
    public = [(key, value) for key, value in pairs if not is_secret(key, value)]
    query = parts.query if len(public) == len(pairs) else urlencode(public)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=query))


def remember_environment() -> None:
    """Have `redact` hide the environment's secrets, as far as their names give them away.

    An author's code may print what no model of ours uses.
    """
    for name, value in os.environ.items():
        is_path = value.startswith(("/", "~", "."))
        if len(value) >= _MIN_OF_ENVIRONMENT and not is_path and _KEEPS_SECRET.search(name):
            remember(value)


def known_secrets() -> list[str]:
    """Return what `redact` hides, for another process to `remember`."""
    return sorted(_revealed)


def _forms(value: str) -> set[str]:
    """Return how a value may stand in a message: in a URL, in JSON, in HTML, in a `repr`."""
    bare = _SCHEME.sub("", value.strip())
    escaped = (json.dumps(bare), json.dumps(bare, ensure_ascii=False), repr(bare))
    written = (
        value,
        bare,
        quote(bare, safe=""),
        quote_plus(bare),
        unquote(bare),
        html.escape(bare),
    )
    return {form for form in (*written, *(text[1:-1] for text in escaped)) if form}


def remember(value: str) -> None:
    """Have `redact` hide `value` from now on, however it is escaped, and its bare token."""
    global _pattern
    forms = {form for form in _forms(value) if len(form) >= _MIN_REDACTED}
    if not forms <= _revealed:
        _revealed.update(forms)
        longest_first = sorted(_revealed, key=len, reverse=True)
        _pattern = re.compile("|".join(map(re.escape, longest_first)))


def redact(text: str) -> str:
    """Return `text` with every remembered value of six characters or more as `***`."""
    return _pattern.sub("***", text) if _pattern else text


def _expand(text: str, name: str) -> str:
    scheme = _SCHEME.match(text)
    if not text[scheme.end() if scheme else 0 :].startswith("$"):
        return text

    def variable(match: re.Match[str]) -> str:
        key = match[1] or match[2]
        value = os.environ.get(key, "")
        if not value:
            state = "is empty" if key in os.environ else "is not set"
            raise DefinitionError(
                f"environment variable '{key}' {state}",
                where=name,
                fix=f"set it, or put '{key}=…' into a file named .env",
            )
        return value

    return _VARIABLE.sub(variable, text)
