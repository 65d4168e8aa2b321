"""Finding and reading the files that definitions name: none outside of the project, none huge."""

import difflib
import os
from dataclasses import dataclass
from pathlib import Path

_ROOT_MARKS = ("pyproject.toml", ".git")
_STORE = ".evalmill"

MAX_FILE = 10_000_000
"""Bytes a definition, or a file it includes, may have: the longest prompts have a hundredth."""
ALLOW_OUTSIDE = "--allow-outside"
"""What lets definitions name files anywhere."""


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


@dataclass(frozen=True, slots=True)
class Bounds:
    """The folders that definitions may name files of.

    Attributes:
        folders: without symbolic links.
        anywhere: whether any other file will do as well.
    """

    folders: tuple[Path, ...]
    anywhere: bool = False

    def check(self, name: str, path: Path) -> None:
        """Check the file that `name` means.

        Raises:
            UnreadableError: it lies outside.
        """
        if not self.anywhere and not any(map(path.is_relative_to, self.folders)):
            folders = "' or '".join(map(str, self.folders))
            fix = f"keep the file below '{folders}', or allow it with {ALLOW_OUTSIDE}"
            raise UnreadableError(f"'{name[:200]}' leaves the project", fix)


def bounds_of(file: Path, anywhere: bool = False) -> Bounds:
    """Return where the files may be that `file` names: in its project, or the working directory.

    The working directory counts when `file` is below it and it is not as wide as a home.
    """
    here, home = Path.cwd().resolve(), Path(os.path.expanduser("~")).resolve()
    folders = [project_of(file).resolve()]
    if file.resolve().is_relative_to(here) and not home.is_relative_to(here):
        folders.append(here)
    inner = [f for f in folders if not any(f != g and f.is_relative_to(g) for g in folders)]
    return Bounds(tuple(dict.fromkeys(inner)), anywhere)


def find(name: str, beside: Path, bounds: Bounds) -> Path:
    """Return the file that `name` means in the file `beside`.

    Raises:
        UnreadableError: it does not exist, is no file, or is out of bounds.
    """
    try:
        path = (beside.parent / name).resolve()
        bounds.check(name, path)
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
        UnreadableError: it can't be read, is not UTF-8, or is no text one would write.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE + 1)
        if len(content) > MAX_FILE:
            problem = f"'{path.name}' has more than {MAX_FILE:,} bytes"
            raise UnreadableError(problem, "put data into a dataset")
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise UnreadableError(
            f"'{path.name}' is not UTF-8 (byte {error.start})", "save it as UTF-8"
        ) from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise UnreadableError(f"'{path.name}' can't be read: {reason}", "mend it") from None


def _names(folder: Path) -> list[str]:
    return [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
