"""What goes into a scorer and what comes out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tasks_lib.trace import SolverTrace
from tasks_lib.trace.grouped import SolverOutput


@dataclass(frozen=True, slots=True)
class Row:
    """What a scorer sees of one row.

    Attributes:
        sample: the dataset columns; of a task with several datasets, parameter name -> columns.
        solver_output: what the solver left; None in a task without a solver.
        shown: gives the form in which authors' code sees the output: the solver's `shown`.
    """

    sample: dict[str, Any]
    solver_output: SolverTrace | None
    shown: Callable[[SolverTrace], SolverOutput] | None = None

    @property
    def shown_output(self) -> SolverOutput | None:
        """The solver's output as templates and snippets see it."""
        if self.shown is None or self.solver_output is None:
            return self.solver_output
        return self.shown(self.solver_output)


@dataclass(frozen=True, slots=True)
class Score:
    """What one scorer says of one row.

    Attributes:
        values: score name -> JSON value; what metrics aggregate.
        metadata: stored beside the scores, never aggregated.
    """

    values: dict[str, Any]
    metadata: dict[str, Any] | None = None
