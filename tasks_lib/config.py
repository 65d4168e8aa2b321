"""Config parameters: what a value may be, and how `<< config.x >>` takes its place."""

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import yaml

from tasks_lib.base import KeyPath
from tasks_lib.definitions.parameters import ParameterSpec

Report = Callable[[KeyPath, str, str], None]
"""Takes a problem: where it is (keys from the root of the tree), what is wrong, how to mend it."""

_NAME = r"<<\s*config\.((?:(?!<<|>>).)+?)\s*>>"
_PLACEHOLDER = re.compile(_NAME)
_WHOLE = re.compile(rf"\s*{_NAME}\s*")


def whole_placeholder(value: object) -> str | None:
    """Return the NAME of a value that is one `<< config.NAME >>` and nothing else."""
    match = _WHOLE.fullmatch(value) if isinstance(value, str) else None
    return match[1] if match else None


def placeholder_names(tree: object) -> set[str]:
    """Return the names of all `<< config.NAME >>` in the texts of `tree`, keys apart."""
    if isinstance(tree, str):
        return set(_PLACEHOLDER.findall(tree)) if "<<" in tree else set()
    if isinstance(tree, Mapping):
        return set().union(*map(placeholder_names, tree.values()))
    return set().union(*map(placeholder_names, tree)) if isinstance(tree, list) else set()


def has_placeholder(tree: object) -> bool:
    """Return whether any text in `tree`, keys apart, holds a `<< config.x >>`."""
    return bool(placeholder_names(tree))


def substitute(tree: Any, values: Mapping[str, Any], report: Report, path: KeyPath = ()) -> Any:
    """Return `tree` with every `<< config.x >>` replaced; what was put in is not scanned again.

    A text that is one placeholder becomes the value itself, its type kept; inside longer
    text the value is written out. Keys of mappings are left alone.

    Args:
        tree: mappings, lists and scalars as read from YAML.
        values: what each name stands for.
        report: told of each undefined name; its placeholder stays.
        path: where `tree` is, for `report`.
    """
    if isinstance(tree, str):
        return _substitute_text(tree, values, report, path)
    if isinstance(tree, Mapping):
        return {key: substitute(value, values, report, (*path, key)) for key, value in tree.items()}
    if isinstance(tree, list):
        return [substitute(item, values, report, (*path, i)) for i, item in enumerate(tree)]
    return tree


def _substitute_text(text: str, values: Mapping[str, Any], report: Report, path: KeyPath) -> Any:
    whole = whole_placeholder(text) if "<<" in text else None
    if whole is not None and whole in values:
        return values[whole]

    def written_out(match: re.Match[str]) -> str:
        name = match[1]
        if name in values:
            return str(values[name])
        report(
            path,
            f"config parameter '{name}' is not defined",
            did_you_mean(name, values) or f"add '{name}' to config_spec",
        )
        return match[0]

    return _PLACEHOLDER.sub(written_out, text) if "<<" in text else text


def effective_values(
    specs: Sequence[ParameterSpec],
    supplied: Mapping[str, Any],
    report: Report,
    usage_defaults: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the checked value of every parameter, in the order of `specs`.

    One whose value is reported is left out.

    Args:
        specs: the parameters of a task or an evaluation.
        supplied: what the caller gave; a parameter that is absent takes its default.
        report: told of each wrong, missing or unknown entry, by its key.
        usage_defaults: usage of a model parameter (`model_under_test`, …) -> the model key
            it takes when nothing else is said.
    """
    known = {spec.key for spec in specs}
    for name in supplied:
        if name not in known:
            listed = ", ".join(sorted(known)) or "none"
            fix = did_you_mean(name, known) or f"known parameters: {listed}"
            report((name,), f"unknown config parameter '{name}'", fix)
    values: dict[str, Any] = {}
    for spec in specs:
        usage = spec.usage if spec.type == "model" else None
        fallback = (usage_defaults or {}).get(usage or "")
        value = supplied.get(spec.key, fallback if spec.default is None else spec.default)
        where = (spec.key,) if spec.key in supplied else ()
        if value is None and not spec.nullable:
            problem = f"config parameter '{spec.key}' has no value"
            report(where, problem, _how_to_set(spec))
            continue
        try:
            values[spec.key] = None if value is None else spec.accept(value)
        except ValueError as error:
            report(where, f"config parameter '{spec.key}': {error}", "")
    return values


def substituted_values(specs: Iterable[ParameterSpec], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return what each `<< config.x >>` becomes, given the checked values."""
    by_key = {spec.key: spec for spec in specs}
    return {
        name: value if value is None else by_key[name].substitute(value)
        for name, value in values.items()
    }


def parse_setting(spec: ParameterSpec, text: str) -> Any:
    """Return the value that `--set NAME=text` means for this parameter, not yet coerced.

    Text stays text; `null` is null where the parameter may be null; lists and mappings are
    YAML (`[a, b]`), a list also `a,b`.

    Raises:
        ValueError: a list or mapping that is no YAML.
    """
    if spec.nullable and text.strip() == "null":
        return None
    if spec.type not in ("list", "dict") and not (spec.type == "categorical" and spec.multiple):
        return text
    try:
        value = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(f"'{text}' can't be read: {' '.join(str(error).split())}") from None
    if isinstance(value, list | dict):
        return value
    return [item.strip() for item in text.split(",")] if text.strip() else []


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `did you mean 'x'?` for the nearest known name, or nothing when none is near."""
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean '{near[0]}'?" if near else ""


def _how_to_set(spec: ParameterSpec) -> str:
    advice = f"set it in the file, or with --set '{spec.key}=…'"
    if spec.type == "dataset":
        return f"{advice}; for a task file, --dataset names it"
    if spec.type == "model" and spec.usage == "model_under_test":
        return f"{advice}; -m names it too"
    return advice
