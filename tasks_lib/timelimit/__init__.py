"""Time limits for authors' code: it runs in threads of its own, which are given up when late.

Python can't end a thread from outside. A late one is asked to end (its coroutine is cancelled,
else an exception is raised at its next line of Python); whether it does or not, nobody waits for
it, and it keeps no process alive. What never gives the interpreter back, such as a regular
expression that back-tracks for ever, can't be given up so: it needs a process (`isolation`).
"""

from tasks_lib.timelimit.calls import within, within_async
from tasks_lib.timelimit.clock import Clock
from tasks_lib.timelimit.series import each_within
from tasks_lib.timelimit.threads import (
    MOST_STUCK,
    GivenUp,
    StuckError,
    TimedOutError,
    run_coroutine,
)

__all__ = [
    "MOST_STUCK",
    "Clock",
    "GivenUp",
    "StuckError",
    "TimedOutError",
    "each_within",
    "run_coroutine",
    "within",
    "within_async",
]
