"""The solvers a task may name.

A solver is a definition (the fields are what YAML says) that turns a `Sample` into a
`SolverTrace`: `solve` on the model loop, or `replay` where no model is called. A sample that
can't be answered raises a SampleError and is an error row. `multi_turn` runs the steps of
`message_builders` against a `conversation`; `postprocessing` makes rows of what was solved.

To add one: write its file with a class that extends `base.BaseSolver`, then list it below.
"""

from typing import Annotated

from pydantic import Field

from tasks_lib.solvers.grouped_single_turn import GroupedSingleTurnSolver
from tasks_lib.solvers.multi_turn import MultiTurnSolver
from tasks_lib.solvers.pass_through import PassThroughSolver
from tasks_lib.solvers.python import PythonSolver
from tasks_lib.solvers.single_turn import SingleTurnSolver

Solver = Annotated[
    SingleTurnSolver | MultiTurnSolver | PassThroughSolver | GroupedSingleTurnSolver | PythonSolver,
    Field(discriminator="type"),
]

__all__ = ["Solver"]
