"""`multi_turn_solver`: a conversation of several turns, built step by step."""

from typing import Annotated, Literal

from pydantic import Field

from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BaseSolver, SolverContext
from tasks_lib.solvers.conversation import Conversation
from tasks_lib.solvers.message_builders import Builder, build
from tasks_lib.trace import SolverTrace


class MultiTurnSolver(BaseSolver):
    """Runs message builders in order against a growing conversation."""

    type: Literal["multi_turn_solver"]
    message_builders: Annotated[tuple[Builder, ...], Field(min_length=1)]
    """The steps of the conversation; at least one."""

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        conversation = Conversation(sample, context)
        await build(self.message_builders, conversation)
        return conversation.as_output()
