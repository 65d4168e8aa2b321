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
        return await Question(self.first_input(sample)).asked(context)

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: ONE_CALL}

    def first_input(self, sample: Sample) -> Any:
        return self.input_builder.build(sample.data)


class Question:
    """What the evaluated model is asked once, recorded before the call: a bad one costs nothing.

    Args:
        model_input: what it is sent.

    Raises:
        SampleError: it is no model input.
    """

    def __init__(self, model_input: Any) -> None:
        self._model_input = model_input
        try:
            self._trace = Trace.from_items(input_items(model_input))
        except ValueError as error:
            raise SampleError("template", f"the model input is no chat: {error}") from None

    async def asked(self, context: SolverContext) -> SolverTrace:
        """Return it with the model's answer.

        Raises:
            SampleError: the call failed.
        """
        output = await context.calls.predict(context.model_key, self._model_input)
        self._trace.raw_items.extend(output_items(output.raw))
        return SolverTrace(self._trace, [output.raw])
