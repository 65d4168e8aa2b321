"""`multi_turn_solver`: a conversation of several turns, built step by step."""

from collections.abc import Coroutine
from typing import Annotated, Any, Literal

from pydantic import Field

from tasks_lib.errors import SampleError
from tasks_lib.models.predictor import Predictor, input_of_first_call
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BrokenOffError, ConversationSolver, SolverContext
from tasks_lib.solvers.call_range import CallRanges
from tasks_lib.solvers.conversation import Conversation
from tasks_lib.solvers.message_builders import Builder, build, calls_of
from tasks_lib.trace import SolverTrace


class MultiTurnSolver(ConversationSolver):
    """Runs message builders in order against a growing conversation."""

    type: Literal["multi_turn_solver"]
    message_builders: Annotated[tuple[Builder, ...], Field(min_length=1)]
    """The steps of the conversation; at least one."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        conversation = Conversation(sample, context)
        try:
            await build(self.message_builders, conversation)
        except SampleError as error:
            raise BrokenOffError(error, conversation.as_output()) from error
        return conversation.as_output()

    def calls(self, evaluated: str) -> CallRanges:
        return calls_of(self.message_builders, evaluated)

    def first_input(self, sample: Sample) -> Any:
        def converse(models: Predictor) -> Coroutine[Any, Any, None]:
            return build(self.message_builders, Conversation(sample, SolverContext("", models)))

        return input_of_first_call(converse)
