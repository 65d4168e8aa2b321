"""An event loop whose clock jumps over waits, so that tests need no sleeping."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class SkippingLoop(asyncio.SelectorEventLoop):
    """Its clock stands still while code runs, and jumps to the next timer when all wait.

    While `busy` says yes, something else than timers is waited for, and it runs as any clock.
    """

    def __init__(self) -> None:
        super().__init__()
        self.busy: Callable[[], bool] = lambda: False
        self._now = time.monotonic()
        select = self._selector.select  # type: ignore[attr-defined]

        def select_or_jump(timeout: float | None = None) -> Any:
            if not timeout:
                return select(timeout)
            if not self.busy():
                events = select(0)
                if not events:
                    self._now += timeout
                return events
            began = time.monotonic()
            events = select(timeout)
            self._now += time.monotonic() - began
            return events

        self._selector.select = select_or_jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return self._now


def run_skipping(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` as `asyncio.run` does, in a `SkippingLoop`."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(main)


def skipping_loop() -> SkippingLoop:
    """The loop that runs the caller."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SkippingLoop)
    return loop
