"""An event loop whose clock jumps over waits, so that tests need no sleeping."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class SkippingLoop(asyncio.SelectorEventLoop):
    """While `busy` says no, only timers are waited for: the clock jumps to the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.busy: Callable[[], bool] = lambda: False
        self._jumped = 0.0
        select = self._selector.select  # type: ignore[attr-defined]

        def select_or_jump(timeout: float | None = None) -> Any:
            if not timeout or self.busy():
                return select(timeout)
            events = select(0)
            if not events:
                self._jumped += timeout
            return events

        self._selector.select = select_or_jump  # type: ignore[attr-defined]

    def time(self) -> float:
        return super().time() + self._jumped


def run_skipping(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` as `asyncio.run` does, in a `SkippingLoop`."""
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(main)


def skipping_loop() -> SkippingLoop:
    """The loop that runs the caller."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, SkippingLoop)
    return loop
