"""Reading definition files and making typed objects of their parts."""

import os
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from tasks_lib.base import Definition, KeyPath
from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.loading.complaints import complaints
from tasks_lib.loading.deprecated_keys import deprecated_keys
from tasks_lib.loading.document import Document, located
from tasks_lib.loading.files import bounds_of
from tasks_lib.loading.kinds import Kind, kind_of, model_of
from tasks_lib.loading.reader import Broken, Reader
from tasks_lib.snippets import remember_origin

_D = TypeVar("_D", bound=Definition)


def load(path: Path, kind: Kind | None = None, *, anywhere: bool = False) -> Document:
    """Read a definition file and all it refers to, and check it.

    Values that are one `<< config.x >>` are not checked: their types show after substitution.
    Call `load_environment` before, once, for variables from `.env`.

    Args:
        path: the file.
        kind: what it must define; told from its keys when None.
        anywhere: whether it may name files outside of its project.

    Raises:
        DefinitionErrors: everything that is wrong with the files.
    """
    file = Path(os.path.abspath(path))
    bounds = bounds_of(file, anywhere)
    reader = Reader(bounds)
    tree = reader.read(file)
    kind = kind or kind_of(tree)
    old = [
        str(located(reader.places, old_path, f"'{old_path[-1]}' is an old key", advice))
        for old_path, advice in deprecated_keys(tree, kind)
    ]
    warnings = tuple(reader.warnings + old)
    document = Document(file, bounds, kind, tree, reader.places, warnings)
    problems = reader.problems
    if not isinstance(tree, Broken):
        problems = problems + _checked(document, model_of(kind), (), tree, forgiving=True)[1]
    if problems:
        raise DefinitionErrors(_in_order(problems))
    return document


def validate(document: Document, model: type[_D], path: KeyPath = (), value: Any = ...) -> _D:
    """Return a typed object made of a part of a document, or of what became of it.

    Args:
        document: the document the part is from.
        model: the class of the object.
        path: where the part is in the document.
        value: the part after substitution; as it is in the document when left out.

    Raises:
        DefinitionErrors: all that is wrong with it, pointing at the lines it was written on.
    """
    part = document.at(path) if value is ... else value
    typed, problems = _checked(document, model, path, part, forgiving=False)
    if typed is None:
        raise DefinitionErrors(_in_order(problems))
    return typed


def _checked(
    document: Document, model: type[_D], path: KeyPath, value: Any, *, forgiving: bool
) -> tuple[_D | None, list[DefinitionError]]:
    _remember_snippets(document, path, value)
    try:
        return model.model_validate(value), []
    except ValidationError as error:
        found = complaints(error.errors(include_url=False), value, model, forgiving=forgiving)
    return None, [document.error((*path, *one.path), one.problem, one.fix) for one in found]


def _remember_snippets(document: Document, path: KeyPath, value: Any) -> None:
    """Let complaints and tracebacks of snippets name the lines they are written on."""
    if isinstance(value, dict):
        for key, inner in value.items():
            _remember_snippets(document, (*path, key), inner)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _remember_snippets(document, (*path, index), inner)
    elif isinstance(value, str) and path and str(path[-1]).endswith("_snippet"):
        place = document.place(path)
        remember_origin(value, place.text_file, place.text_line)


def _in_order(problems: list[DefinitionError]) -> list[DefinitionError]:
    """Return problems without repetition, those of a file together, by line."""
    unique = list({str(problem): problem for problem in problems}.values())
    files = list(dict.fromkeys(_file_and_line(problem)[0] for problem in unique))

    def place(problem: DefinitionError) -> tuple[int, int]:
        file, line = _file_and_line(problem)
        return files.index(file), line

    return sorted(unique, key=place)


def _file_and_line(problem: DefinitionError) -> tuple[str, int]:
    file, _, rest = problem.where.partition(":")
    return file, int(rest.partition(":")[0])
