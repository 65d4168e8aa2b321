"""Structures of doubles, which can lie in memory that several processes map."""

from ctypes import Structure, c_double
from typing import TypeVar

S = TypeVar("S", bound=type[Structure])


def laid_out(kind: S) -> S:
    """Lay out a structure's fields as they are annotated: `float`, or another structure."""
    fields = kind.__annotations__.items()
    kind._fields_ = [(name, c_double if of is float else of) for name, of in fields]
    return kind
