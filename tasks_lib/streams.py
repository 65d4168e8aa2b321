"""The standard streams of a command: no secret on stderr, and no harm when nobody reads."""

import io
import os
import sys
from collections.abc import Callable
from typing import TypeVar

from tasks_lib.secrets import redact

T = TypeVar("T")


class Outlet(io.TextIOWrapper):
    """A text stream for which some errors of the system mean that nobody listens any more.

    What is written from then on goes nowhere. Characters that the terminal's encoding has not
    are written out as escapes.

    Args:
        stream: taken over.
        tolerated: these errors.
        edit: makes of a text what is written.
    """

    def __init__(
        self, stream: io.TextIOWrapper, tolerated: type[OSError], edit: Callable[[str], str]
    ) -> None:
        manner = {
            name: getattr(stream, name) for name in ("encoding", "line_buffering", "write_through")
        }
        super().__init__(stream.detach(), errors="backslashreplace", **manner)
        self._tolerated = tolerated
        self._edit = edit

    def write(self, text: str) -> int:
        """Write text, to nowhere if need be."""
        self._tried(lambda: super(Outlet, self).write(self._edit(text)), 0)
        return len(text)

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


def make_safe() -> None:
    """Put outlets in the place of stdout and stderr.

    Neither a reader that has gone nor a stderr of any state ends the command; what stdout
    can't take for another reason, such as a full disk, stays an error. What goes to stderr,
    what authors' code prints included, shows no secret that is known; what it writes to the
    file descriptors itself can't be helped.
    """
    for name, tolerated, edit in (("stdout", BrokenPipeError, str), ("stderr", OSError, redact)):
        stream = getattr(sys, name)
        if stream is None:  # closed by the caller
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper):
            setattr(sys, name, Outlet(stream, tolerated, edit))
