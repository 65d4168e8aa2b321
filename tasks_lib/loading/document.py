"""A definition file as read: a tree of plain values that knows where each was written."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tasks_lib.base import KeyPath
from tasks_lib.errors import DefinitionError, bounded
from tasks_lib.loading.files import Bounds
from tasks_lib.loading.kinds import Kind


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value is written.

    Attributes:
        file: the file, which another may have brought in by `$ref`.
        line: line of the key, or of the list entry, from 1.
        depth: how many parts of the value's path lead to the root of `file`.
        text_file: the file a text came from; differs from `file` for `!include`.
        text_line: line of `text_file` on which the text starts.
    """

    file: Path
    line: int
    depth: int
    text_file: Path
    text_line: int


@dataclass(frozen=True)
class Document:
    """A file with all that it refers to, not yet substituted.

    Attributes:
        file: the root file, absolute.
        bounds: where the files may be that it names.
        kind: what the root file defines.
        tree: mappings, lists, text, numbers, booleans and nulls.
        places: where every value of `tree` is written.
        warnings: what is accepted but should be written otherwise, as `file:line: …`.
    """

    file: Path
    bounds: Bounds
    kind: Kind
    tree: Any
    places: Mapping[KeyPath, Place]
    warnings: tuple[str, ...] = ()

    def at(self, path: KeyPath) -> Any:
        """Return the value at `path`.

        Raises:
            LookupError: there is none.
        """
        value = self.tree
        for part in path:
            value = value[part]
        return value

    def place(self, path: KeyPath) -> Place:
        """Return where the value at `path` is written, or the nearest value around it."""
        return place_of(self.places, path)

    def error(self, path: KeyPath, problem: str, fix: str = "") -> DefinitionError:
        """Return an error that points at `path`."""
        return located(self.places, path, problem, fix)


def place_of(places: Mapping[KeyPath, Place], path: KeyPath) -> Place:
    """Return the place of `path`, or of the nearest known value around it."""
    while path not in places:
        path = path[:-1]
    return places[path]


def located(
    places: Mapping[KeyPath, Place], path: KeyPath, problem: str, fix: str = ""
) -> DefinitionError:
    """Return an error whose `where` is `file:line: key.path`."""
    place = place_of(places, path)
    inside = bounded(".".join(map(str, path[place.depth :])), 200)
    where = f"{shown(place.file)}:{place.line}"
    if place.text_file != place.file and str(place.text_file) not in problem:
        problem = f"{problem} (text of {shown(place.text_file)})"
    return DefinitionError(problem, f"{where}: {inside}" if inside else where, fix)


def shown(file: Path) -> str:
    """Return a path as short as it can be from the working directory."""
    return os.path.relpath(file) if file.is_relative_to(Path.cwd()) else str(file)
