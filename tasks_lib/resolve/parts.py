"""Pieces of files on their way to typed definitions, and everything that is wrong with them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from tasks_lib.base import Definition, KeyPath
from tasks_lib.config import Report
from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.loading import Document, validate
from tasks_lib.loading.files import UnreadableError

DefinitionT = TypeVar("DefinitionT", bound=Definition)


class Problems:
    """Collects what is wrong, so that all of it is said at once."""

    def __init__(self) -> None:
        self._found: dict[str, DefinitionError] = {}

    def add(self, *errors: DefinitionError) -> None:
        """Note problems; one that is noted twice counts once."""
        for error in errors:
            inner = error.problems if isinstance(error, DefinitionErrors) else (error,)
            self._found.update((str(problem), problem) for problem in inner)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note what is wrong inside, and go on behind it."""
        try:
            yield
        except DefinitionError as error:
            self.add(error)

    def __len__(self) -> int:
        return len(self._found)

    def found(self) -> list[DefinitionError]:
        """Return what was noted, in the order it was."""
        return list(self._found.values())

    def raise_any(self) -> None:
        """Raise what was noted, if anything was.

        Raises:
            DefinitionErrors: all of it.
        """
        if self._found:
            raise DefinitionErrors(self.found())


@dataclass(frozen=True)
class Part:
    """A piece of a document.

    Attributes:
        tree: its values; after substitution they differ from the document's.
        document: where it was written.
        base: path from the root of the document to this piece.
        label: stands for its place in messages when it is written in no file.
    """

    tree: Any
    document: Document
    base: KeyPath = ()
    label: str = ""

    def child(self, *keys: str | int) -> "Part":
        """Return the piece below, which must exist."""
        tree = self.tree
        for key in keys:
            tree = tree[key]
        return replace(self, tree=tree, base=(*self.base, *keys))

    def entries(self, key: str) -> list["Part"]:
        """Return the pieces of the list at `key`; none when it is absent or no list."""
        listed = self.tree.get(key) if isinstance(self.tree, dict) else None
        if not isinstance(listed, list):
            return []
        return [self.child(key, i) for i in range(len(listed)) if isinstance(listed[i], dict)]

    def text(self, key: str) -> str | None:
        """Return the text at `key`; None when there is none."""
        value = self.tree.get(key) if isinstance(self.tree, dict) else None
        return value if isinstance(value, str) else None

    def with_tree(self, tree: Any) -> "Part":
        """Return the piece with other values in the same places."""
        return replace(self, tree=tree)

    def folder(self, *keys: str | int) -> Path:
        """Return the folder of the file in which the value at `keys` is written."""
        return self.document.place((*self.base, *keys)).file.parent

    def written(self, *keys: str | int) -> Any:
        """Return what the file says at `keys`, nothing put in; None when it says nothing."""
        try:
            return self.document.at((*self.base, *keys))
        except LookupError:
            return None

    def file(self, name: str, folder: Path, *keys: str | int) -> Path:
        """Return the absolute path that `name`, written at `keys`, means.

        Raises:
            DefinitionError: it is outside of what the document may name.
        """
        path = (folder / Path(name).expanduser()).resolve()
        try:
            self.document.bounds.check(name, path)
        except UnreadableError as error:
            raise self.error(keys, error.problem, error.fix) from None
        return path

    def error(self, path: KeyPath, problem: str, fix: str = "") -> DefinitionError:
        """Return an error that points at `path` below this piece."""
        if self.label:
            return DefinitionError(problem, self.label, fix)
        return self.document.error((*self.base, *path), problem, fix)

    def reporter(self, problems: Problems, *below: str | int) -> Report:
        """Return what notes problems by their path below `below`."""

        def report(path: KeyPath, problem: str, fix: str) -> None:
            problems.add(self.error((*below, *path), problem, fix))

        return report

    def typed(self, model: type[DefinitionT], problems: Problems) -> DefinitionT | None:
        """Return this piece as `model`; None, with the reasons noted, when it is none."""
        with problems.noted():
            return validate(self.document, model, self.base, self.tree)
        return None
