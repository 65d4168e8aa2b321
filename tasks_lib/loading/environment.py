"""Environment variables in definitions, and the `.env` files they may come from."""

import os
import re
from pathlib import Path

from dotenv import load_dotenv

from tasks_lib.base import KeyPath
from tasks_lib.errors import DefinitionError
from tasks_lib.secrets import SECRET_FIELDS, remember_environment

_VARIABLE = re.compile(r"\$(?:([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})")
_REVEALED_LATE = SECRET_FIELDS | {"trusted_ca"}
_SECRET_MAPPINGS = frozenset({"secrets", "custom_headers", "environment"})


def load_environment(extra: Path | None = None) -> None:
    """Set environment variables from `.env` of the working directory and from `extra`.

    What is set already wins over `.env`; `extra` wins over both.

    Raises:
        DefinitionError: `extra` does not exist, or one of the files is not UTF-8.
    """
    if extra is not None and not extra.is_file():
        raise DefinitionError(f"environment file '{extra}' does not exist", fix="mend its path")
    for file, override in ((Path.cwd() / ".env", False), (extra, True)):
        if file is not None and file.is_file():
            try:
                load_dotenv(file, override=override, encoding="utf-8")
            except UnicodeDecodeError:
                raise DefinitionError(
                    f"environment file '{file}' is not UTF-8", fix="save it as UTF-8"
                ) from None
    remember_environment()


def expand(text: str) -> str:
    """Return `text` with `$NAME` and `${NAME}` replaced, if it starts with `$`.

    Names that are not set stay as they are written.
    """
    if not text.startswith("$"):
        return text
    return _VARIABLE.sub(lambda match: os.environ.get(match[1] or match[2], match[0]), text)


def unset_variable(text: str) -> str | None:
    """Return the name of the first variable in `text` that `expand` had to leave."""
    match = _VARIABLE.search(text) if text.startswith("$") else None
    return (match[1] or match[2]) if match else None


def holds_secret(path: KeyPath) -> bool:
    """Return whether what stands at `path` is revealed only where it is sent."""
    return (path[-1:] and path[-1] in _REVEALED_LATE) or not _SECRET_MAPPINGS.isdisjoint(path[:-1])
