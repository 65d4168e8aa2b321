"""The catalog's snippets, run as evalmill runs them: with their placeholders filled in."""

from types import SimpleNamespace
from typing import Any

import pytest

from tasks_lib.config import substitute
from tests.command_line import REPOSITORY

CATALOG = REPOSITORY / "tasks_lib" / "catalog"


def snippet(path: str, **config: Any) -> SimpleNamespace:
    """Return what a snippet defines.

    Args:
        path: of the snippet in the catalog.
        config: values of the parameters that it names.
    """

    def report(*problem: object) -> None:
        pytest.fail(f"{path}: {problem}")

    source = substitute((CATALOG / path).read_text(encoding="utf-8"), config, report)
    defined: dict[str, Any] = {"__name__": path}
    exec(compile(source, path, "exec"), defined)
    return SimpleNamespace(**defined)


class Said:
    """A solver's output, as far as the catalog's scorers look at it."""

    def __init__(self, text: str | None) -> None:
        self.trace = self
        self._text = text

    def get_last_assistant_text(self) -> str | None:
        return self._text
