"""How much work one rendering may do: counted while it does it."""

import time
from collections.abc import Mapping
from typing import Any

MAX_SIZE = 10_000_000
"""Most characters or list items that a template may make at once: no prompt is that long."""
MAX_MADE = 20 * MAX_SIZE
"""Most that one rendering may make in all, what it throws away included: some hundred MB."""
MAX_NODES = 1_000_000
"""Most values inside of one that is shown; looking at them takes half a second."""
MAX_STEPS = 1_000_000
"""Most loop rounds one rendering may take."""
MAX_SECONDS = 10.0
"""Longest that one rendering may take; a prompt takes a thousandth of a second."""
REGEX_SECONDS = 2.0
"""Longest that one replacement by a regular expression may take, which some texts make endless."""

_CONTAINERS = (list, tuple, dict, set, frozenset)


class TooLargeError(Exception):
    """A template asked for more text, loop rounds or time than is allowed."""


class Meter:
    """What one rendering has done so far."""

    __slots__ = ("_end", "_made", "_steps")

    def __init__(self) -> None:
        self._steps = 0
        self._made = 0
        self._end = time.monotonic() + MAX_SECONDS

    def step(self) -> None:
        """Count a loop round."""
        self._steps += 1
        if self._steps > MAX_STEPS:
            raise TooLargeError(f"more than {MAX_STEPS:,} loop rounds")
        self.tick()

    def tick(self) -> None:
        """Look at the clock."""
        if time.monotonic() > self._end:
            raise TooLargeError(f"it took more than {MAX_SECONDS:g} s")

    def spend(self, size: int) -> None:
        """Count text or items that are about to be made."""
        self._made += size
        if size > MAX_SIZE or self._made > MAX_MADE:
            limit = MAX_SIZE if size > MAX_SIZE else MAX_MADE
            raise TooLargeError(f"more than {limit:,} characters or items")
        self.tick()

    def weigh(self, value: Any) -> None:
        """Count what a nested value would be as text; lists in lists double unseen."""
        if isinstance(value, _CONTAINERS):
            self.spend(_weight(value))


def _weight(value: Any) -> int:
    total, looked_at, waiting = 0, 0, [value]
    while waiting:
        one = waiting.pop()
        total += len(one) if isinstance(one, str) else 1
        looked_at += 1
        if looked_at > MAX_NODES:
            return MAX_SIZE + 1
        if isinstance(one, Mapping):
            waiting += one.values()
        elif isinstance(one, _CONTAINERS):
            waiting += one
    return total
