"""`python`: the author's own way of talking to the model."""

import asyncio
import resource
from typing import Any, Literal
from weakref import WeakKeyDictionary

from tasks_lib.compat.authors_model import AuthorsModel
from tasks_lib.errors import SampleError, Stopped, StoreError
from tasks_lib.isolation import Asking
from tasks_lib.isolation.member import Seconds, SnippetMember
from tasks_lib.samples import Sample
from tasks_lib.snippets import SnippetSource, load_snippet
from tasks_lib.solvers.base import BaseSolver, BrokenOffError, SolverContext
from tasks_lib.solvers.call_range import CallRange, CallRanges
from tasks_lib.timelimit import Clock
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.plain import copy_json

FILES_PER_SAMPLE = 8
"""Open files a sample in work may need: three of its thread's loop, its connection, and as much
again for what its code opens. So many samples at once as the process's limit of files admits."""
MOST_AT_ONCE = 256
"""Samples at once, whatever the limit of files: beyond, threads wait for one another."""
MAX_CALLS = 10_000
"""Model calls of one sample; a loop without end would pay for ever."""

_FUNCTION = "run_solver"
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


class PythonSolver(SnippetMember, BaseSolver):
    """Runs the author's `run_solver(sample, model, trace)`, each sample in a thread of its own.

    What blocks there holds up nothing else.
    """

    type: Literal["python"]
    run_solver_snippet: SnippetSource("run_solver")  # type: ignore[valid-type]
    """Source that defines `async def run_solver(sample, model, trace)`; returns a SolverTrace."""
    timeout: Seconds = 600.0
    """Seconds the function may take for a sample, apart from its waiting for the model."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        # a copy: what the author changes is not what the dataset says
        data = copy_json(sample.data)
        async with _slot():
            calls = _Calls(context, Clock(self.timeout))
            try:
                if self.isolation == "process":
                    returned = await self._in_process(data, calls)
                else:
                    returned = await self._in_thread(data, calls)
            finally:
                calls.raise_what_must_not_be_caught()
        if not isinstance(returned, SolverTrace):
            raise SampleError(
                "code",
                f"run_solver returned {type(returned).__name__}, not a SolverTrace",
                fix="end it with: return trace",
            )
        return returned

    async def _in_thread(self, data: dict[str, Any], calls: "_Calls") -> Any:
        model, trace = AuthorsModel(calls.from_thread), SolverTrace()
        try:
            return await self.call_async(
                self.run_solver_snippet, _FUNCTION, data, model, trace, clock=calls.clock
            )
        except SampleError as error:
            raise BrokenOffError(error, trace) from error

    async def _in_process(self, data: dict[str, Any], calls: "_Calls") -> Any:
        asking = Asking(calls.predict, calls.loop, calls.clock)
        try:
            snippet = load_snippet(self.run_solver_snippet, _FUNCTION)
            return await self.isolated_async(snippet, (data,), asking)
        except SampleError as error:
            raise BrokenOffError(error, asking.trace or SolverTrace()) from error

    def own_limits(self) -> list[float]:
        return [self.timeout, *super().own_limits()]

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: CallRange(0, None)}


class _Calls:
    """The model calls of one sample; made on the model loop. Its clock stands still meanwhile."""

    def __init__(self, context: SolverContext, clock: Clock) -> None:
        self.clock = clock
        self.loop = asyncio.get_running_loop()
        self._context = context
        self._made = 0
        self._ended_by: BaseException | None = None

    async def predict(self, model_input: Any) -> Any:
        """Return the model's output as plain JSON; on the model loop.

        Raises:
            SampleError: there were more calls than a sample may have.
        """
        self._made += 1
        if self._made > MAX_CALLS:
            raise SampleError(
                "code", f"run_solver makes more than {MAX_CALLS:,} calls", fix="end its loop"
            )
        try:
            output = await self._context.calls.predict(self._context.model_key, model_input)
        except (Stopped, StoreError) as error:
            self._ended_by = error
            raise
        return output.raw

    async def from_thread(self, model_input: Any) -> Any:
        """Return the same, from another loop."""
        with self.clock.hold():
            call = asyncio.run_coroutine_threadsafe(self.predict(model_input), self.loop)
            return await asyncio.wrap_future(call)

    def raise_what_must_not_be_caught(self) -> None:
        """Raise the end of the run, which an author's `except` may have swallowed.

        Raises:
            Stopped: the run is being interrupted.
            StoreError: a reply could not be recorded.
        """
        if self._ended_by is not None:
            raise self._ended_by


def _slot() -> asyncio.Semaphore:
    """What a sample waits for before it takes a thread of this loop's."""
    loop = asyncio.get_running_loop()
    if loop not in _slots:
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        at_once = allowed // FILES_PER_SAMPLE if allowed > 0 else MOST_AT_ONCE
        _slots[loop] = asyncio.Semaphore(max(1, min(at_once, MOST_AT_ONCE)))
    return _slots[loop]
