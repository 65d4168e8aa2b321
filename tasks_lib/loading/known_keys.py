"""What a definition class allows at a place: its keys, found by following annotations."""

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Tag

from tasks_lib.base import KeyPath


def known_keys(model: type[BaseModel], loc: KeyPath) -> list[str]:
    """Return the keys that may stand in the mapping at `loc`; empty when they are not limited.

    Args:
        model: the class of the whole.
        loc: pydantic's location, which names union members by tag or class.
    """
    return [
        field.alias or name
        for member in _members(model, loc)
        for name, field in member.model_fields.items()
    ]


def known_tags(model: type[BaseModel], loc: KeyPath, key: str) -> list[str]:
    """Return the values that `key` tells the forms at `loc` apart by."""
    return [
        tag
        for member in _members(model, loc)
        if key in member.model_fields
        for tag in get_args(member.model_fields[key].annotation)
    ]


def _members(model: type[BaseModel], loc: KeyPath) -> list[type[BaseModel]]:
    annotations: list[Any] = [model]
    for part in loc:
        annotations = [inner for outer in annotations for inner in _step(outer, part)]
    return [member for annotation in annotations for member in _models(annotation)]


def _step(annotation: Any, part: str | int) -> list[Any]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _step(arguments[0], part)
    if origin in (Union, UnionType):
        named = [member for member in arguments if _answers_to(member, part)]
        return named or [inner for member in arguments for inner in _step(member, part)]
    if isinstance(part, int):
        return [arguments[0]] if origin in (tuple, list) else []
    if origin is dict:
        return [arguments[1]]
    if _is_model(annotation):
        fields = annotation.model_fields
        return [fields[name].annotation for name in fields if part in (name, fields[name].alias)]
    return []


def _answers_to(member: Any, part: str | int) -> bool:
    """Return whether `part` of a location is the tag or the name of this union member."""
    if get_origin(member) is Annotated:
        tags = [entry.tag for entry in get_args(member)[1:] if isinstance(entry, Tag)]
        return part in tags or _answers_to(get_args(member)[0], part)
    if not _is_model(member):
        return False
    if part in member.model_fields:
        return False
    literals = [field.annotation for field in member.model_fields.values()]
    return part == member.__name__ or any(
        part in get_args(literal) for literal in literals if get_origin(literal) is Literal
    )


def _models(annotation: Any) -> list[type[BaseModel]]:
    if _is_model(annotation):
        return [annotation]
    return [model for argument in get_args(annotation) for model in _models(argument)]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
