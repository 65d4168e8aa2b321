"""Pydantic's complaints in our words, pointing at what the author wrote."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tasks_lib.config import did_you_mean, whole_placeholder
from tasks_lib.errors import bounded
from tasks_lib.loading.document import KeyPath
from tasks_lib.loading.environment import holds_secret, unset_variable
from tasks_lib.loading.members import known_keys, known_tags
from tasks_lib.loading.not_yet import KEYS, MEMBERS
from tasks_lib.loading.reading import Broken
from tasks_lib.placeholders import neutralised


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
class _Error:
    """A pydantic error beside the part of the tree it is about."""

    path: KeyPath
    in_branch: bool  # pydantic tried it as one of several forms
    value: Any
    detail: ErrorDetails


_WANTED = {
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


def complaints(
    errors: Sequence[ErrorDetails], tree: Any, model: type[BaseModel], *, forgiving: bool
) -> list[Complaint]:
    """Return what is wrong with `tree`, in the order of pydantic's errors.

    Args:
        errors: of validating `tree` as `model`.
        tree: mappings, lists and scalars.
        model: the class.
        forgiving: pass over values that are one `<< config.x >>`, whose type is not known yet.
    """
    found = [_locate(error, tree) for error in errors]
    found = [error for error in found if not _excused(error, forgiving)]
    refused = {error.path[:-1] for error in found if _refuses_member(error)}
    unbuilt = {
        error.path[:-1]
        for error in found
        if error.detail["type"] == "extra_forbidden" and error.path[-1] in KEYS
    }
    listed: dict[tuple[KeyPath, str], Complaint] = {}
    for error in found:
        follows = any(
            error.path[: len(path)] == path and not _refuses_member(error) for path in refused
        ) or (error.detail["type"] == "missing" and error.path[:-1] in unbuilt)
        if follows or _is_other_form(error, found):
            continue
        complaint = _worded(error, [e for e in found if e.path == error.path], model)
        if holds_secret(complaint.path):
            complaint = replace(complaint, problem=_without_value(complaint.problem, error.value))
        listed.setdefault((complaint.path, complaint.problem), complaint)
    return list(listed.values())


def _locate(error: ErrorDetails, tree: Any) -> _Error:
    """Drop from pydantic's location what is not in the tree: tags and names of forms."""
    value, path, dropped = tree, [], False
    loc = error["loc"]
    for index, part in enumerate(loc):
        inside = (isinstance(value, dict) and part in value) or (
            isinstance(value, list | tuple) and isinstance(part, int) and part < len(value)
        )
        if inside:
            value = value[part]
            path.append(part)
        elif error["type"] == "missing" and index == len(loc) - 1:
            path.append(part)
        else:
            dropped = True
    return _Error(tuple(path), dropped, value, error)


def _excused(error: _Error, forgiving: bool) -> bool:
    value = error.value
    if error.detail["type"].startswith("union_tag") and isinstance(value, dict):
        value = value.get(_discriminator(error), value)
    if isinstance(value, Broken):
        return True
    if error.detail["type"] == "too_short":  # pydantic does not count entries that are wrong
        return bool(len(value) >= error.detail["ctx"]["min_length"])
    if not forgiving:
        return False
    if error.detail["type"] in ("literal_error", "string_pattern_mismatch", "string_too_long"):
        return isinstance(value, str) and neutralised(value) != value
    return whole_placeholder(value) is not None


def _refuses_member(error: _Error) -> bool:
    """Return whether the only form there is has another `type` than the one written."""
    is_type = error.path[-1:] in (("type",), ("connection_type",))
    return is_type and error.detail["type"] == "literal_error"


def _is_other_form(error: _Error, found: Sequence[_Error]) -> bool:
    """Return whether the author meant another form, in which something deeper is wrong."""
    depth = len(error.path)
    return error.in_branch and any(
        other.in_branch and len(other.path) > depth and other.path[:depth] == error.path
        for other in found
        if error.detail["type"] in ("literal_error", *_WANTED)
    )


def _worded(error: _Error, same_place: Sequence[_Error], model: type[BaseModel]) -> Complaint:
    kind, path = error.detail["type"], error.path
    if kind == "missing":
        return Complaint(path[:-1], f"key '{path[-1]}' is missing", "add it")
    if kind == "extra_forbidden":
        return _unknown_key(error, model)
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _unknown_member(error, model)
    if _refuses_member(error):
        return _refused_member(path, str(error.value), _choices(error))
    if kind == "literal_error" and str(error.value) in MEMBERS.get(str(path[-1]), ()):
        return Complaint(path, f"'{error.value}' is not supported yet", _one_of(_choices(error)))
    wanted = [_wanted(other) for other in same_place]
    if all(wanted):
        return _not_wanted(error, list(dict.fromkeys(filter(None, wanted))), same_place)
    return Complaint(path, _plain(error), "")


def _unknown_key(error: _Error, model: type[BaseModel]) -> Complaint:
    key = str(error.path[-1])
    if key in KEYS:
        return Complaint(error.path, f"'{key}' is not supported yet", "remove it")
    known = known_keys(model, error.detail["loc"][:-1])
    near = did_you_mean(key, known)
    fix = near or (f"known keys: {bounded(', '.join(known))}" if known else "remove it")
    return Complaint(error.path, f"unknown key '{bounded(key, 80)}'", fix)


def _unknown_member(error: _Error, model: type[BaseModel]) -> Complaint:
    key, value = _discriminator(error), error.value
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


def _not_wanted(error: _Error, wanted: list[str], same_place: Sequence[_Error]) -> Complaint:
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


def _wanted(error: _Error) -> str | None:
    kind, context = error.detail["type"], error.detail.get("ctx", {})
    if kind == "literal_error":
        return _one_of(_choices(error), "one of ")
    if kind in _LIMITS:
        name, words = _LIMITS[kind]
        return f"{words} {context[name]}"
    return _WANTED.get(kind)


def _plain(error: _Error) -> str:
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


def _without_value(problem: str, value: Any) -> str:
    return problem.replace(_shown(value), "the value") if value else problem


def _discriminator(error: _Error) -> str:
    """Return the key that tells forms apart; of a function, the key it has looked at."""
    context = error.detail.get("ctx", {})
    name = str(context.get("discriminator", "")).strip("'")
    if name.isidentifier() or not isinstance(error.value, dict):
        return name
    looked_at = (key for key, value in error.value.items() if value == context.get("tag"))
    return next(looked_at, "type")


def _choices(error: _Error) -> list[str]:
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
