"""The words for each kind of pydantic error."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tasks_lib.base import KeyPath
from tasks_lib.config import did_you_mean
from tasks_lib.errors import bounded
from tasks_lib.loading.environment import holds_secret, unset_variable
from tasks_lib.loading.known_keys import known_keys, known_tags
from tasks_lib.loading.unsupported import KEYS, MEMBERS


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that is wrong.

    Attributes:
        path: where, as in the author's tree.
        problem: what is wrong.
        fix: what to do about it; may be empty.
    """

    path: KeyPath
    problem: str
    fix: str


@dataclass(frozen=True, slots=True)
class Error:
    """A pydantic error beside the part of the tree it is about.

    Attributes:
        path: where, as in the author's tree.
        in_branch: whether pydantic tried the value as one of several forms.
        value: what is written there.
        detail: what pydantic says.
    """

    path: KeyPath
    in_branch: bool
    value: Any
    detail: ErrorDetails


WANTED = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of reasonable size",
    "int_type": "a whole number",
    "list_type": "a list",
    "mapping_type": "a mapping",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "string_type": "text",
    "tuple_type": "a list",
}
_LIMITS = {
    "greater_than": ("gt", "greater than"),
    "greater_than_equal": ("ge", "at least"),
    "less_than": ("lt", "less than"),
    "less_than_equal": ("le", "at most"),
}


def refuses_member(error: Error) -> bool:
    """Return whether the only form there is has another `type` than the one written."""
    is_type = error.path[-1:] in (("type",), ("connection_type",))
    return is_type and error.detail["type"] == "literal_error"


def worded(error: Error, same_place: Sequence[Error], model: type[BaseModel]) -> Complaint:
    """Return what an author is told; a secret's value is left out.

    Args:
        error: the error.
        same_place: all errors of the same value, which may be of several forms of it.
        model: the class of the whole.
    """
    complaint = _worded(error, same_place, model)
    if error.value and holds_secret(complaint.path):
        problem = complaint.problem.replace(_shown(error.value), "the value")
        return Complaint(complaint.path, problem, complaint.fix)
    return complaint


def _worded(error: Error, same_place: Sequence[Error], model: type[BaseModel]) -> Complaint:
    kind, path = error.detail["type"], error.path
    if kind == "missing":
        return Complaint(path[:-1], f"key '{path[-1]}' is missing", "add it")
    if kind == "extra_forbidden":
        return _unknown_key(error, model)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _unknown_member(error, model)
    if refuses_member(error):
        return _refused_member(path, str(error.value), _choices(error))
    if kind == "literal_error" and str(error.value) in MEMBERS.get(str(path[-1]), ()):
        return Complaint(path, f"'{error.value}' is not supported yet", _one_of(_choices(error)))
    wanted = [_wanted(other) for other in same_place]
    if all(wanted):
        return _not_wanted(error, list(dict.fromkeys(filter(None, wanted))), same_place)
    return Complaint(path, _plain(error), "")


def _unknown_key(error: Error, model: type[BaseModel]) -> Complaint:
    key = str(error.path[-1])
    if key in KEYS:
        return Complaint(error.path, f"'{key}' is not supported yet", "remove it")
    known = known_keys(model, error.detail["loc"][:-1])
    near = did_you_mean(key, known)
    fix = near or (f"known keys: {bounded(', '.join(known))}" if known else "remove it")
    return Complaint(error.path, f"unknown key '{bounded(key, 80)}'", fix)


def _unknown_member(error: Error, model: type[BaseModel]) -> Complaint:
    key, value = discriminator(error), error.value
    if error.detail["type"] == "union_tag_not_found":
        choices = known_tags(model, error.detail["loc"], key)
        if not isinstance(value, dict):
            fix = f"write a mapping with a '{key}'; {_one_of(choices)}"
            return Complaint(error.path, f"{_shown(value)} is not a mapping", fix)
        return Complaint(error.path, f"key '{key}' is missing", f"add it, {_one_of(choices)}")
    path = (*error.path, key) if isinstance(value, dict) and key in value else error.path
    return _refused_member(path, str(error.detail["ctx"]["tag"]), _choices(error))


def _refused_member(path: KeyPath, tag: str, choices: list[str]) -> Complaint:
    holder = next((part for part in reversed(path[:-1]) if isinstance(part, str)), "")
    if tag in MEMBERS.get(holder, ()):
        return Complaint(path, f"'{tag}' is not supported yet", _one_of(choices, "use one of "))
    fix = did_you_mean(tag, choices) or _one_of(choices)
    return Complaint(path, f"unknown {path[-1]} '{bounded(tag, 80)}'", fix)


def _not_wanted(error: Error, wanted: list[str], same_place: Sequence[Error]) -> Complaint:
    value = error.value
    problem = f"{_shown(value)} is not {' or '.join(wanted)}"
    choices = [choice for other in same_place for choice in _choices(other)]
    fix = did_you_mean(value, choices) if isinstance(value, str) else ""
    variable = unset_variable(value) if isinstance(value, str) else None
    if variable:
        fix = f"set the environment variable '{variable}'"
    elif wanted == ["text"] and isinstance(value, bool | int | float):
        fix = "put it in quotes"
    elif value is None and not choices:
        fix = "write a value, or remove the key"
    return Complaint(error.path, problem, fix)


def _wanted(error: Error) -> str | None:
    kind, context = error.detail["type"], error.detail.get("ctx", {})
    if kind == "literal_error":
        return _one_of(_choices(error), "one of ")
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"{words} {context[name]}"
    return WANTED.get(kind)


def _plain(error: Error) -> str:
    kind, context = error.detail["type"], error.detail.get("ctx", {})
    match kind:
        case "value_error":
            return bounded(str(context["error"]))
        case "string_pattern_mismatch":
            dollar = ", '$'" if "$]" in context["pattern"] else ""
            return f"{_shown(error.value)} may only hold letters, digits, '_', '-'{dollar}"
        case "string_too_short":
            return "the text is empty"
        case "string_too_long":
            return f"{_shown(error.value)} is longer than {context['max_length']} characters"
        case "too_short":
            return f"the list needs at least {_entries(context['min_length'])}"
        case "too_long":
            return f"the list may have at most {_entries(context['max_length'])}"
    return bounded(f"{_shown(error.value)}: {error.detail['msg']}")


def _entries(count: int) -> str:
    return f"{count} entry" if count == 1 else f"{count} entries"


def discriminator(error: Error) -> str:
    """Return the key that tells forms apart; of a function, the key it has looked at."""
    context = error.detail.get("ctx", {})
    name = str(context.get("discriminator", "")).strip("'")
    if name.isidentifier() or not isinstance(error.value, dict):
        return name
    looked_at = (key for key, value in error.value.items() if value == context.get("tag"))
    return next(looked_at, "type")


def _choices(error: Error) -> list[str]:
    """Return the values pydantic lists as `'a', 'b' or 'c'`."""
    context = error.detail.get("ctx", {})
    text = str(context.get("expected_tags") or context.get("expected") or "")
    parts = text.replace(" or ", ", ").split(", ")
    return [part[1:-1] if part[:1] == "'" else part for part in parts if part]


def _one_of(choices: list[str], lead: str = "write one of ") -> str:
    listed = bounded(", ".join(f"'{choice}'" for choice in choices))
    return (lead.replace("one of ", "") if len(choices) == 1 else lead) + listed


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, list | tuple):
        return "a list"
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    return bounded(repr(value), 80)
