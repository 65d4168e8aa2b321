"""Keys of models and adapters, and the names of provider models."""

import re
from collections.abc import Callable
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, StringConstraints

from tasks_lib.errors import bounded
from tasks_lib.keys import LONGEST_KEY, sanitised
from tasks_lib.models.connections.provider import Provider
from tasks_lib.placeholders import neutralised

PROVIDERS: tuple[str, ...] = get_args(Provider)
"""Providers whose models may be named as `<provider>/<model>`."""

_MODEL_KEYS = "write a declared model's key, or '<provider>/<model>'"

ReferencedKey = Annotated[
    str, StringConstraints(pattern=r"^[a-zA-Z0-9_\-\$]+$", min_length=1, max_length=LONGEST_KEY)
]
"""Key of a model or an adapter: as a user key, and `$` after a provider's name."""

DisplayName = Annotated[str, StringConstraints(min_length=1)]
"""Name shown to people."""


def split_provider_reference(reference: str) -> tuple[str, str]:
    """Return provider and model of `<provider>/<model>`; the model may hold further slashes.

    Raises:
        ValueError: the provider is unknown, or one of the two is missing.
    """
    provider, _, model = reference.partition("/")
    if not provider or not model:
        shown = bounded(repr(reference), 80)
        raise ValueError(f"{shown} is no provider model; write '<provider>/<model>'")
    if provider not in PROVIDERS:
        raise ValueError(
            f"unknown provider {bounded(repr(provider), 80)}; known are {', '.join(PROVIDERS)}"
        )
    return provider, model


def provider_key(reference: str) -> str:
    """Return the key of a provider model: `openai/gpt-4.1-nano` is `openai$gpt-4-1-nano`.

    Raises:
        ValueError: `reference` is no `<provider>/<model>`, or makes no key.
    """
    provider, model = split_provider_reference(reference)
    return f"{provider}${sanitised(model)}"


def _provider_reference(reference: str) -> str:
    provider_key(neutralised(reference))
    return reference


def _model_reference(reference: str) -> str:
    plain = neutralised(reference)
    if "/" in plain:
        return _provider_reference(reference)
    if not re.fullmatch(r"[a-zA-Z0-9_\-$]{1,250}", plain):
        raise ValueError(f"{bounded(repr(reference), 80)} is no model key; {_MODEL_KEYS}")
    return reference


ProviderReference = Annotated[str, AfterValidator(_provider_reference)]
"""A provider model as `<provider>/<model>`, the model named as the provider names it."""

ModelReference = Annotated[str, AfterValidator(_model_reference)]
"""Key of a declared model, or `<provider>/<model>`, or `<provider>$<model key>`."""


def tag_by(name: str, default: str) -> Callable[[Any], str]:
    """Return what tells a union's members apart: their key `name`, which one may leave out."""

    def tag(value: Any) -> str:
        found = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
        return default if found is None else str(found)

    return tag


def repeated(keys: list[str]) -> str | None:
    """Return the first key that occurs twice, None when all differ."""
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            return key
        seen.add(key)
    return None
