"""`single_turn_solver`: one call of the evaluated model."""

from typing import Any, Literal

from tasks_lib.errors import SampleError
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.solvers.input_builders import InputBuilder
from tasks_lib.trace import SolverTrace, Trace, input_items, output_items


class SingleTurnSolver(BaseSolver):
    """Asks the evaluated model once."""

    type: Literal["single_turn_solver"]
    input_builder: InputBuilder
    """How the model's input is made of the sample."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        model_input: Any = self.input_builder.build(sample.data)
        asked = _recorded(model_input)
        output = await context.calls.predict(context.model_key, model_input)
        items = [*asked, *output_items(output.raw)]
        return SolverTrace(Trace.from_items(items), [output.raw])


def _recorded(model_input: Any) -> list[dict[str, Any]]:
    try:
        return input_items(model_input)
    except ValueError as error:
        raise SampleError("template", f"the model input is no chat: {error}") from None
