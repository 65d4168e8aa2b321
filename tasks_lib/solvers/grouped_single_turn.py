"""`grouped_single_turn_solver`: one call of the evaluated model for each of several inputs."""

from typing import Any, Literal

from tasks_lib.errors import SampleError, bounded
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.solvers.call_range import CallRange, CallRanges
from tasks_lib.solvers.input_builders import GenericBuilder
from tasks_lib.solvers.single_turn import Question
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.grouped import SolverOutput, joined, regrouped


class GroupedSingleTurnSolver(BaseSolver):
    """Asks the evaluated model several questions about a sample, each without the others.

    Authors' code gets a `GroupedSolverTrace`, its `solver_outputs` a list or an object like the
    inputs. Scorers that look for the model's one answer, or its function calls, refuse it.
    """

    type: Literal["grouped_single_turn_solver"]
    input_builder: GenericBuilder
    """Its template gives a JSON list of model inputs, or an object of them by name."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        names, inputs = self._inputs(sample)
        questions = [Question(model_input) for model_input in inputs]
        answers = [await question.asked(context) for question in questions]
        return joined(answers if names is None else dict(zip(names, answers, strict=True)))

    def shown(self, output: SolverTrace) -> SolverOutput:
        return regrouped(output)

    def calls(self, evaluated: str) -> CallRanges:
        return {evaluated: CallRange(1, None)}

    def first_input(self, sample: Sample) -> Any:
        return self._inputs(sample)[1][0]

    def _inputs(self, sample: Sample) -> tuple[list[str] | None, list[Any]]:
        """Return the names of the model inputs, if they have any, and the inputs."""
        inputs = self.input_builder.build(sample.data)
        match inputs:
            case [_, *_]:
                return None, inputs
            case dict() if inputs:
                return list(inputs), list(inputs.values())
        raise SampleError(
            "template",
            f"the rendered model inputs are {bounded(repr(inputs), 80)}",
            where="input_builder.template",
            fix="give a list of model inputs, or an object of them by name, with one at least",
        )
