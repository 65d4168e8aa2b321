"""Nulls that templates write as `None`: noted while somebody wants to know."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_NOTED: ContextVar[set[str] | None] = ContextVar("noted_nulls", default=None)


@contextmanager
def noting_nulls() -> Iterator[set[str]]:
    """Note the names of nulls that are written as `None` meanwhile: `sample.x`."""
    noted: set[str] = set()
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def note_null(name: str) -> None:
    """Note one, if somebody wants to know."""
    noted = _NOTED.get()
    if noted is not None:
        noted.add(name)
