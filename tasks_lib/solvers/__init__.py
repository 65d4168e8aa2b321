"""The solvers a task may name. To add one: write its file, then list it here."""

from typing import Annotated

from pydantic import Field

from tasks_lib.solvers.multi_turn import MultiTurnSolver
from tasks_lib.solvers.pass_through import PassThroughSolver
from tasks_lib.solvers.python import PythonSolver
from tasks_lib.solvers.single_turn import SingleTurnSolver

Solver = Annotated[
    SingleTurnSolver | MultiTurnSolver | PassThroughSolver | PythonSolver,
    Field(discriminator="type"),
]

__all__ = ["Solver"]
