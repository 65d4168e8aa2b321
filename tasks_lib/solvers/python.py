"""`python`: the author's own way of talking to the model."""

from typing import Any, Literal

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.snippets import SnippetSource, load_snippet
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.trace import ModelResponse, SolverTrace, output_items
from tasks_lib.trace.conversions import to_model_input
from tasks_lib.trace.plain import raw_of


class PythonSolver(BaseSolver):
    """Runs the author's `run_solver(sample, model, trace)`."""

    type: Literal["python"]
    run_solver_snippet: SnippetSource("run_solver")  # type: ignore[valid-type]
    """Source that defines `async def run_solver(sample, model, trace)`; returns a SolverTrace."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        model = EvaluatedModel(context)
        run_solver = load_snippet(self.run_solver_snippet, "run_solver")
        returned = await run_solver.acall(dict(sample.data), model, SolverTrace())
        if not isinstance(returned, SolverTrace):
            raise SampleError(
                "code",
                f"run_solver returned {type(returned).__name__}, not a SolverTrace",
                fix="end it with: return trace",
            )
        return returned


class EvaluatedModel:
    """The evaluated model as `run_solver` sees it."""

    def __init__(self, context: SolverContext) -> None:
        self._context = context

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
        output = await self._context.calls.predict(self._context.model_key, model_input)
        return ModelResponse(raw_output=output.raw, items=output_items(output.raw))
