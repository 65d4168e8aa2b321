"""From files to one tree: `!include`, `$ref`, `$NAME`, and where every value was written."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tasks_lib.base import KeyPath
from tasks_lib.errors import DefinitionError
from tasks_lib.loading.document import Place, located, place_of, shown
from tasks_lib.loading.environment import expand, holds_secret
from tasks_lib.loading.files import Bounds, UnreadableError, find, read_text
from tasks_lib.loading.yaml_text import (
    MAP,
    MERGE,
    SCALARS,
    SEQ,
    STR,
    YamlSyntaxError,
    compose,
    scalar,
    shown_tag,
)

_MAX_DEPTH = 60
_MAX_REFERENCES = 20
_MAX_VALUES = 100_000
_MAX_TEXT = 100_000_000  # characters in all: a text that is named often is written out as often
_INCLUDE = "!include"
_Entries = dict[str, tuple[yaml.Node, yaml.Node]]


class Broken:
    """Stands where a value could not be read; that it could not is reported once."""


BROKEN = Broken()


@dataclass(frozen=True, slots=True)
class _Source:
    """The file being read: where its root is, and through which files it was reached."""

    file: Path
    depth: int
    reached_by: tuple[Path, ...]


class Reader:
    """Reads a file and all it refers to; collects problems instead of stopping at one.

    Args:
        bounds: where the files may be that others name.

    Attributes:
        places: where every value read so far is written.
        problems: what is wrong with the files.
        warnings: what is accepted but surely not meant.
    """

    def __init__(self, bounds: Bounds) -> None:
        self.places: dict[KeyPath, Place] = {}
        self.problems: list[DefinitionError] = []
        self.warnings: list[str] = []
        self._bounds = bounds
        self._open_nodes: set[int] = set()  # guards against an alias inside its own anchor
        self._texts: dict[Path, str] = {}
        self._overflowed = False
        self._merged_entries = 0
        self._characters = 0

    def read(self, file: Path) -> Any:
        """Return the tree of `file`; `BROKEN` stands for each value that could not be read."""
        self.places[()] = Place(file, 1, 0, file, 1)
        return self._file(_Source(file, 0, (file,)), ())

    def _file(self, source: _Source, path: KeyPath) -> Any:
        try:
            text = self._text(source.file)
            node = compose(text, is_json=source.file.suffix == ".json")
        except UnreadableError as error:
            return self._broken(path, error.problem, error.fix)
        except YamlSyntaxError as error:
            where = f"{shown(source.file)}:{error.line}"
            self.problems.append(DefinitionError(error.problem, where, error.fix))
            return BROKEN
        if node is None:
            return None
        self.places[path] = self._placed(source, node, node)
        return self._value(node, source, path)

    def _text(self, file: Path) -> str:
        if file not in self._texts:
            self._texts[file] = read_text(file)
        return self._texts[file]

    def _value(self, node: yaml.Node, source: _Source, path: KeyPath) -> Any:
        if len(self.places) > _MAX_VALUES:
            return self._too_many(path)
        if len(path) > _MAX_DEPTH:
            return self._broken(path, f"nested more than {_MAX_DEPTH} deep", "make it flatter")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, source, path)
        if id(node) in self._open_nodes:
            return self._broken(path, "an alias stands inside its own anchor", "write it out")
        if node.tag not in (MAP, SEQ):
            return self._bad_tag(node, path)
        self._open_nodes.add(id(node))
        try:
            if isinstance(node, yaml.MappingNode):
                return self._mapping(node, source, path)
            return self._sequence(node, node.value, source, path)
        finally:
            self._open_nodes.discard(id(node))

    def _scalar(self, node: yaml.ScalarNode, source: _Source, path: KeyPath) -> Any:
        if node.tag == _INCLUDE:
            return self._include(node, source, path)
        if node.tag not in SCALARS:
            return self._bad_tag(node, path)
        try:
            value = scalar(node)
        except ValueError as error:
            return self._broken(path, str(error), "put the text in quotes")
        if not isinstance(value, str):
            return value
        self._characters += len(value)
        if self._characters > _MAX_TEXT:
            return self._too_many(path)
        return value if holds_secret(path) else expand(value)

    def _include(self, node: yaml.ScalarNode, source: _Source, path: KeyPath) -> Any:
        try:
            file = find(node.value, source.file, self._bounds)
            text = self._text(file)
        except UnreadableError as error:
            return self._broken(path, error.problem, error.fix)
        place = place_of(self.places, path)
        skipped = len(text) - len(text.lstrip())
        first_line = text.count("\n", 0, skipped) + 1
        self.places[path] = Place(place.file, place.line, place.depth, file, first_line)
        return text.strip()

    def _sequence(
        self, node: yaml.Node, items: list[yaml.Node], source: _Source, path: KeyPath
    ) -> list[Any]:
        values = []
        for index, item in enumerate(items):
            inner = (*path, index)
            is_alias = item.start_mark.index < node.start_mark.index  # written at its anchor
            self.places[inner] = self._placed(source, node if is_alias else item, item)
            values.append(self._value(item, source, inner))
        return values

    def _mapping(self, node: yaml.MappingNode, source: _Source, path: KeyPath) -> Any:
        entries: _Entries = {}
        readable = True
        for key_node, value_node in node.value:
            if key_node.tag == MERGE:
                continue
            key = self._key(key_node, source, path)
            readable = readable and key is not None
            if key in entries:
                line = entries[key][0].start_mark.line + 1
                problem = f"key '{key[:80]}' is on line {line} already"
                self._complain(source, key_node, (*path, key), problem, "remove one of the two")
            elif key is not None:
                entries[key] = (key_node, value_node)
        for key_node, value_node in self._merged(node, source, path):
            key = self._key(key_node, source, path)
            if key is not None:
                entries.setdefault(key, (key_node, value_node))
        if self._merged_entries > _MAX_VALUES:
            return self._too_many(path)
        if "$ref" in entries:
            return self._reference(entries, source, path)
        values = {}
        for key, (key_node, value_node) in entries.items():
            inner = (*path, key)
            self.places[inner] = self._placed(source, key_node, value_node)
            values[key] = self._value(value_node, source, inner)
        return values if readable else BROKEN

    def _key(self, node: yaml.Node, source: _Source, path: KeyPath) -> str | None:
        if isinstance(node, yaml.ScalarNode) and node.tag in SCALARS:
            return str(node.value)
        template = isinstance(node, yaml.MappingNode)
        fix = "put '{{ … }}' in quotes" if template else "write the key as text"
        self._complain(source, node, path, "a key must be text", fix)
        return None

    def _merged(
        self, node: yaml.MappingNode, source: _Source, path: KeyPath, depth: int = 0
    ) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        """Yield the entries that `<<: *anchor` brings in, those that win first."""
        for key_node, value_node in node.value:
            if key_node.tag != MERGE or self._merged_entries > _MAX_VALUES:
                continue
            listed = isinstance(value_node, yaml.SequenceNode)
            for mapping in value_node.value if listed else [value_node]:
                if not isinstance(mapping, yaml.MappingNode) or depth > _MAX_DEPTH:
                    problem = "'<<' needs a mapping"
                    self._complain(source, key_node, path, problem, "write '<<: *anchor'")
                    continue
                self._merged_entries += len(mapping.value)
                yield from (entry for entry in mapping.value if entry[0].tag != MERGE)
                yield from self._merged(mapping, source, path, depth + 1)

    def _reference(self, entries: _Entries, source: _Source, path: KeyPath) -> Any:
        key_node, node = entries["$ref"]
        if not (isinstance(node, yaml.ScalarNode) and node.tag == STR):
            return self._complain(
                source, key_node, path, "'$ref' needs the path of a file", "write it as text"
            )
        try:
            file = find(expand(node.value), source.file, self._bounds)
        except UnreadableError as error:
            return self._complain(source, key_node, path, error.problem, error.fix)
        if file in source.reached_by or len(source.reached_by) > _MAX_REFERENCES:
            chain = " → ".join(shown(step) for step in (*source.reached_by, file))
            return self._complain(
                source, key_node, path, f"'$ref' goes in a circle: {chain}", "remove one of them"
            )
        ignored = [key for key in entries if key != "$ref"]
        if ignored:
            place = f"{shown(source.file)}:{key_node.start_mark.line + 1}"
            self.warnings.append(f"{place}: '{ignored[0]}' beside '$ref' is ignored; remove it")
        return self._file(_Source(file, len(path), (*source.reached_by, file)), path)

    def _placed(self, source: _Source, key_node: yaml.Node, value_node: yaml.Node) -> Place:
        """Return the place of an entry; a block text starts on the line after its `|`."""
        block = isinstance(value_node, yaml.ScalarNode) and value_node.style in ("|", ">")
        text_line = value_node.start_mark.line + (2 if block else 1)
        line = key_node.start_mark.line + 1
        return Place(source.file, line, source.depth, source.file, text_line)

    def _bad_tag(self, node: yaml.Node, path: KeyPath) -> Broken:
        if node.tag == _INCLUDE:
            return self._broken(path, "'!include' needs the path of a file", "write it as text")
        known = "only '!include' is known"
        return self._broken(path, f"unknown tag '{shown_tag(node.tag)[:80]}'", known)

    def _broken(self, path: KeyPath, problem: str, fix: str) -> Broken:
        self.problems.append(located(self.places, path, problem, fix))
        return BROKEN

    def _too_many(self, path: KeyPath) -> Broken:
        if self._overflowed:
            return BROKEN  # said already
        self._overflowed = True
        problem = f"the files hold more than {_MAX_VALUES:,} values or {_MAX_TEXT:,} characters"
        return self._broken(path, problem, "put data into a dataset; look for aliases of aliases")

    def _complain(
        self, source: _Source, node: yaml.Node, path: KeyPath, problem: str, fix: str
    ) -> Broken:
        """Report a problem at a node that has no place of its own."""
        places = {path: self._placed(source, node, node)}
        self.problems.append(located(places, path, problem, fix))
        return BROKEN
