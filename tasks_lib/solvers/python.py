"""`python`: the author's own way of talking to the model."""

import asyncio
from inspect import isawaitable
from typing import Any, Literal

from tasks_lib.errors import SampleError, Stopped, StoreError
from tasks_lib.models.outputs import ModelOutput
from tasks_lib.samples import Sample
from tasks_lib.snippets import SnippetSource, load_snippet
from tasks_lib.solvers.base import BaseSolver, BrokenOffError, SolverContext
from tasks_lib.solvers.call_range import CallRange, CallRanges
from tasks_lib.trace import ModelResponse, SolverTrace, output_items
from tasks_lib.trace.conversions import to_model_input
from tasks_lib.trace.plain import copy_json, raw_of


class PythonSolver(BaseSolver):
    """Runs the author's `run_solver(sample, model, trace)`."""

    type: Literal["python"]
    run_solver_snippet: SnippetSource("run_solver")  # type: ignore[valid-type]
    """Source that defines `async def run_solver(sample, model, trace)`; returns a SolverTrace."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        model, trace = EvaluatedModel(context), SolverTrace()
        run_solver = load_snippet(self.run_solver_snippet, "run_solver")
        try:
            # a copy: what the author changes is not what the dataset says
            returned = await run_solver.acall(copy_json(sample.data), model, trace)
            if isawaitable(returned):
                returned = await returned
        except SampleError as error:
            raise BrokenOffError(error, trace) from error
        finally:
            model.raise_what_must_not_be_caught()
        if not isinstance(returned, SolverTrace):
            raise SampleError(
                "code",
                f"run_solver returned {type(returned).__name__}, not a SolverTrace",
                fix="end it with: return trace",
            )
        return returned

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: CallRange(0, None)}


class EvaluatedModel:
    """The evaluated model as `run_solver` sees it; made on the model loop."""

    def __init__(self, context: SolverContext) -> None:
        self._context = context
        self._loop = asyncio.get_running_loop()
        self._ended_by: BaseException | None = None

    async def predict(self, inputs: Any, **options: Any) -> ModelResponse:
        """Return the model's reply; nothing is appended to the trace.

        Args:
            inputs: trace items, a list of chat messages, a chat input, or any JSON that a
                custom model takes.
            options: added to a chat input, such as `response_format`.

        Raises:
            SampleError: no usable reply.
        """
        model_input = to_model_input(inputs)
        if options and isinstance(model_input, dict):
            given = {name: raw_of(value) for name, value in options.items()}
            model_input = {**model_input, **given}
        call = self._call(model_input)
        if asyncio.get_running_loop() is self._loop:
            output = await call
        else:  # a plain def may run a loop of its own
            future = asyncio.run_coroutine_threadsafe(call, self._loop)
            output = await asyncio.wrap_future(future)
        return ModelResponse(raw_output=output.raw, items=output_items(output.raw))

    async def _call(self, model_input: Any) -> ModelOutput:
        try:
            return await self._context.calls.predict(self._context.model_key, model_input)
        except (Stopped, StoreError, asyncio.CancelledError) as error:
            self._ended_by = error
            raise

    def raise_what_must_not_be_caught(self) -> None:
        """Raise the end of the run, which an author's `except` may have swallowed.

        Raises:
            Stopped: the run is being interrupted.
            StoreError: a reply could not be recorded.
        """
        if self._ended_by is not None:
            raise self._ended_by
