"""How files get into a store whole or not at all, and out of it again."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from tasks_lib.errors import StoreError


def write_atomically(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` fill a temporary file, then rename it to `path`.

    Whatever is raised, `path` is as it was before. What has its name survives a power cut.

    Raises:
        StoreError: the disk is full or the folder unwritable.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        _sync(temporary)
        os.replace(temporary, path)
        with suppress(PermissionError):
            _sync(path.parent)
    except OSError as error:
        _remove(temporary)
        raise _unwritable("write", path, error) from None
    except BaseException:
        _remove(temporary)
        raise


def _sync(path: Path) -> None:
    """Have the disk hold a file, or the names in a folder."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def clear_unfinished(folder: Path) -> None:
    """Remove what a process that was killed had not finished writing; nobody else may write."""
    for path in folder.rglob(".*.tmp"):
        _remove(path)


def remove(path: Path) -> None:
    """Remove a file of the store, if it is there.

    Raises:
        StoreError: it can't be removed.
    """
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise _unwritable("remove", path, error) from None


def _remove(path: Path) -> None:
    with suppress(OSError):  # what made the writing fail may forbid this too
        path.unlink()


def _unwritable(act: str, path: Path, error: OSError) -> StoreError:
    return StoreError(
        f"can't {act}: {error.strerror or error}",
        where=str(path),
        fix="free disk space, check the permissions, or choose another store with --out",
    )


def write_text(path: Path, text: str) -> None:
    """Write a text, atomically.

    Raises:
        StoreError: it can't be written.
    """
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically.

    Raises:
        StoreError: it can't be written.
    """
    text = orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_atomically(path, lambda temporary: temporary.write_bytes(text))


def read_json(path: Path) -> Any:
    """Return the value of a JSON file of the store.

    Raises:
        StoreError: it is missing or no JSON.
    """
    try:
        return orjson.loads(path.read_bytes())
    except OSError as error:
        raise StoreError(f"can't read: {error.strerror or error}", where=str(path)) from None
    except orjson.JSONDecodeError as error:
        raise StoreError(f"is no JSON: {error}", where=str(path)) from None
