"""Definitions as they may be stored: plain YAML values, without a secret."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.base import Definition
from tasks_lib.definitions.model import Model
from tasks_lib.secrets import clean_url, is_reference, is_secret, variable_for

_SECRET_FIELDS = frozenset(
    {"api_key", "client_secret", "access_key_id", "secret_access_key", "session_token"}
)
_OPEN_MAPPINGS = frozenset({"custom_headers", "environment"})


def stored_model(model: Model) -> dict[str, Any]:
    """Return a model as it may be stored: literal secrets become names of variables to set."""
    stored = dumped(model)
    stored["config"] = _without_secrets(stored["config"], model.key)
    if stored.get("secrets"):
        stored["secrets"] = references(stored["secrets"], model.key)
    return stored


def _without_secrets(tree: Any, owner: str) -> Any:
    if isinstance(tree, list):
        return [_without_secrets(item, owner) for item in tree]
    if not isinstance(tree, dict):
        return clean_url(tree) if isinstance(tree, str) and "://" in tree else tree
    cleaned: dict[str, Any] = {}
    for name, value in tree.items():
        if name in _OPEN_MAPPINGS and isinstance(value, dict):
            cleaned[name] = {
                key: _reference(item, owner, key) if is_secret(key, str(item)) else item
                for key, item in value.items()
            }
        elif name in _SECRET_FIELDS:
            cleaned[name] = _reference(value, owner, name)
        else:
            cleaned[name] = _without_secrets(value, owner)
    return cleaned


def references(secrets: Mapping[str, str], owner: str) -> dict[str, str]:
    """Return secrets as written; a literal value becomes the name of a variable to set."""
    return {name: _reference(value, owner, name) for name, value in secrets.items()}


def _reference(value: Any, owner: str, name: str) -> Any:
    if value is None or (isinstance(value, str) and is_reference(value)):
        return value
    return variable_for(owner, name)


def dumped(definition: Definition) -> dict[str, Any]:
    """Return a definition as it was written."""
    return definition.model_dump(mode="json", by_alias=True, exclude_unset=True)


def plain(tree: Any) -> Any:
    """Return YAML values of the built-in types alone, so that any YAML writer takes them."""
    if isinstance(tree, Mapping):
        return {str(key): plain(value) for key, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [plain(item) for item in tree]
    return str(tree) if isinstance(tree, str) else tree
