"""What goes into a scorer and what comes out."""

from dataclasses import dataclass
from typing import Any

from tasks_lib.trace import SolverTrace
from tasks_lib.trace.legacy import to_legacy


@dataclass(frozen=True, slots=True)
class Row:
    """What a scorer sees of one row.

    Attributes:
        sample: the dataset columns; of a task with several datasets, parameter name -> columns.
        solver_output: what the solver left; None in a task without a solver.
        legacy: whether authors' code sees the output in its older form
            (`message_format: latticeflow`).
    """

    sample: dict[str, Any]
    solver_output: SolverTrace | None
    legacy: bool = False

    @property
    def shown_output(self) -> Any:
        """The solver's output as templates and snippets see it."""
        if self.legacy and self.solver_output is not None:
            return to_legacy(self.solver_output)
        return self.solver_output


@dataclass(frozen=True, slots=True)
class Score:
    """What one scorer says of one row.

    Attributes:
        values: score name -> JSON value; what metrics aggregate.
        metadata: stored beside the scores, never aggregated.
    """

    values: dict[str, Any]
    metadata: dict[str, Any] | None = None
