"""Definitions as they may be stored: plain YAML values, without a secret."""

from collections.abc import Callable, Mapping
from typing import Any

import yaml

from tasks_lib.base import Definition
from tasks_lib.definitions.model import Model
from tasks_lib.secrets import SECRET_FIELDS, clean_url, is_reference, is_secret, variable_for

_OPEN_MAPPINGS = frozenset({"custom_headers", "environment", "extra_headers"})


def stored_model(model: Model) -> dict[str, Any]:
    """Return a model as it may be stored: literal secrets become names of variables to set."""

    def stand_in(name: str, value: Any) -> Any:
        return _reference(value, model.key, name)

    stored = dumped(model)
    for part in ("config", "parameters"):
        if part in stored:
            stored[part] = _with_stand_ins(stored[part], stand_in)
    if stored.get("secrets"):
        stored["secrets"] = references(stored["secrets"], model.key)
    return stored


def connection_settings(model: Model) -> dict[str, Any]:
    """Return how a model is reached, secrets and the names of their variables left out."""
    settings: dict[str, Any] = _with_stand_ins(dumped(model)["config"], lambda name, value: None)
    return settings


def _with_stand_ins(tree: Any, stand_in: Callable[[str, Any], Any]) -> Any:
    if isinstance(tree, list):
        return [_with_stand_ins(item, stand_in) for item in tree]
    if not isinstance(tree, dict):
        return clean_url(tree) if isinstance(tree, str) and "://" in tree else tree
    cleaned: dict[str, Any] = {}
    for name, value in tree.items():
        if name in _OPEN_MAPPINGS and isinstance(value, dict):
            cleaned[name] = {
                key: stand_in(key, item) if _may_be_secret(key, item) else item
                for key, item in value.items()
            }
        elif name in SECRET_FIELDS:
            cleaned[name] = stand_in(name, value)
        else:
            cleaned[name] = _with_stand_ins(value, stand_in)
    return cleaned


def _may_be_secret(name: str, value: Any) -> bool:
    return isinstance(value, str) and (is_reference(value) or is_secret(name, value))


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


class _Dumper(yaml.SafeDumper):
    """Quotes text that YAML 1.1 or 1.2 would take for something else."""


def _text_node(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    # PyYAML itself quotes words such as `yes`, but no number that only 1.2 knows
    style = "|" if "\n" in text else None if text[:1].isalpha() else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text_node)


def yaml_of(tree: Any) -> str:
    """Return plain values as YAML that loading reads back as they are."""
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
