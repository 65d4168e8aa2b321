"""The solvers a task may name. To add one: write its file, then list it here."""

from typing import Annotated

from pydantic import Field

from tasks_lib.solvers.pass_through import PassThroughSolver
from tasks_lib.solvers.single_turn import SingleTurnSolver

Solver = Annotated[SingleTurnSolver | PassThroughSolver, Field(discriminator="type")]

__all__ = ["Solver"]
