"""Output that nobody reads any more: a run goes on, and ends with its own exit code."""

import io
import os
import sys
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


class Unheard(io.TextIOWrapper):
    """A text stream for which some errors of the system mean that nobody listens any more.

    What is written from then on goes nowhere.
    """

    def __init__(self, stream: io.TextIOWrapper, tolerated: type[OSError]) -> None:
        manner = {
            name: getattr(stream, name)
            for name in ("encoding", "errors", "line_buffering", "write_through")
        }
        super().__init__(stream.detach(), **manner)
        self._tolerated = tolerated

    def write(self, text: str) -> int:
        """Write text, to nowhere if need be."""
        return self._tried(lambda: super(Unheard, self).write(text), len(text))

    def flush(self) -> None:
        """Write what is waiting, to nowhere if need be."""
        self._tried(super().flush, None)

    def _tried(self, act: Callable[[], T], otherwise: T) -> T:
        try:
            return act()
        except OSError as error:
            if not isinstance(error, self._tolerated):
                raise
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return otherwise


def make_tolerant() -> None:
    """Let neither a reader that has gone nor stderr of any state end the command.

    What stdout can't take for another reason, such as a full disk, stays an error.
    """
    for name, tolerated in (("stdout", BrokenPipeError), ("stderr", OSError)):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, Unheard(stream, tolerated))
