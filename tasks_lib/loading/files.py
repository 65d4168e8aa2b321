"""Finding and reading the files that definitions name, none outside of the project."""

import difflib
import os
from pathlib import Path

_ROOT_MARKS = ("pyproject.toml", ".git")
_STORE = ".evalmill"


class UnreadableError(Exception):
    """A file that can't be used.

    Attributes:
        problem: why not.
        fix: what may mend it.
    """

    def __init__(self, problem: str, fix: str) -> None:
        super().__init__(problem, fix)
        self.problem, self.fix = problem, fix


def project_of(file: Path) -> Path:
    """Return the nearest folder above `file` that marks a project, else the file's folder.

    A store marks one too, except in the home folder, where evalmill keeps things of its own.
    """
    home = Path(os.path.expanduser("~"))
    for folder in file.parents:
        marks = _ROOT_MARKS if folder == home else (*_ROOT_MARKS, _STORE)
        if any((folder / mark).exists() for mark in marks):
            return folder
    return file.parent


def find(name: str, beside: Path, project: Path) -> Path:
    """Return the file that `name` means in the file `beside`.

    Raises:
        UnreadableError: it does not exist, is no file, or lies outside of `project`.
    """
    try:
        path = (beside.parent / name).resolve()
        if not path.is_relative_to(project):
            fix = f"keep the file below '{project}'"
            raise UnreadableError(f"'{name}' leaves the project", fix)
        if path.is_file():
            return path
        exists = path.exists()
        near = [] if exists else difflib.get_close_matches(path.name, _names(path.parent), n=1)
    except (OSError, ValueError, RuntimeError):  # too long, a NUL in it, a loop of links
        raise UnreadableError(f"'{name[:200]}' can't be a path", "mend the path") from None
    fix = f"did you mean '{near[0]}'?" if near else f"paths start from '{beside.parent}'"
    raise UnreadableError(f"'{name}' {'is no file' if exists else 'does not exist'}", fix)


def read_text(path: Path) -> str:
    """Return a UTF-8 file's text without byte-order mark.

    Raises:
        UnreadableError: it can't be read or is not UTF-8.
    """
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"'{path.name}' is not UTF-8 (byte {error.start})", "save it as UTF-8"
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableError(f"'{path.name}' can't be read: {reason}", "mend it") from None


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
