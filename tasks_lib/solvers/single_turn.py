"""`single_turn_solver`: one call of the evaluated model."""

from typing import Any, Literal

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import ConversationSolver, SolverContext
from tasks_lib.solvers.call_range import ONE_CALL, CallRanges
from tasks_lib.solvers.input_builders import InputBuilder
from tasks_lib.trace import SolverTrace, Trace, input_items, output_items


class SingleTurnSolver(ConversationSolver):
    """Asks the evaluated model once."""

    type: Literal["single_turn_solver"]
    input_builder: InputBuilder
    """How the model's input is made of the sample."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        model_input = self.first_input(sample)
        trace = _recorded(model_input)
        output = await context.calls.predict(context.model_key, model_input)
        trace.raw_items.extend(output_items(output.raw))
        return SolverTrace(trace, [output.raw])

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: ONE_CALL}

    def first_input(self, sample: Sample) -> Any:
        return self.input_builder.build(sample.data)


def _recorded(model_input: Any) -> Trace:
    """The input as a trace, made before the call so that a bad one costs nothing."""
    try:
        return Trace.from_items(input_items(model_input))
    except ValueError as error:
        raise SampleError("template", f"the model input is no chat: {error}") from None
