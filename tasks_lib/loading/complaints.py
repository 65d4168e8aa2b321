"""Pydantic's complaints in our words, each once, pointing at what the author wrote."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from tasks_lib.base import KeyPath
from tasks_lib.config import whole_placeholder
from tasks_lib.loading.reader import Broken
from tasks_lib.loading.unsupported import KEYS
from tasks_lib.loading.wording import (
    WANTED,
    Complaint,
    Error,
    discriminator,
    refuses_member,
    worded,
)
from tasks_lib.placeholders import neutralised


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
    refused = {error.path[:-1] for error in found if refuses_member(error)}
    unbuilt = {
        error.path[:-1]
        for error in found
        if error.detail["type"] == "extra_forbidden" and error.path[-1] in KEYS
    }
    listed: dict[tuple[KeyPath, str], Complaint] = {}
    for error in found:
        follows = any(
            error.path[: len(path)] == path and not refuses_member(error) for path in refused
        ) or (error.detail["type"] == "missing" and error.path[:-1] in unbuilt)
        if follows or _is_other_form(error, found):
            continue
        complaint = worded(error, [e for e in found if e.path == error.path], model)
        listed.setdefault((complaint.path, complaint.problem), complaint)
    return list(listed.values())


def _locate(error: ErrorDetails, tree: Any) -> Error:
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
    return Error(tuple(path), dropped, value, error)


def _excused(error: Error, forgiving: bool) -> bool:
    value = error.value
    if error.detail["type"].startswith("union_tag") and isinstance(value, dict):
        value = value.get(discriminator(error), value)
    if isinstance(value, Broken):
        return True
    if error.detail["type"] == "too_short":  # pydantic does not count entries that are wrong
        return bool(len(value) >= error.detail["ctx"]["min_length"])
    if not forgiving:
        return False
    if error.detail["type"] in ("literal_error", "string_pattern_mismatch", "string_too_long"):
        return isinstance(value, str) and neutralised(value) != value
    return whole_placeholder(value) is not None


def _is_other_form(error: Error, found: Sequence[Error]) -> bool:
    """Return whether the author meant another form, in which something deeper is wrong."""
    depth = len(error.path)
    return error.in_branch and any(
        other.in_branch and len(other.path) > depth and other.path[:depth] == error.path
        for other in found
        if error.detail["type"] in ("literal_error", *WANTED)
    )
