"""What a solver is: it turns one sample into a solver trace."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.models.predictor import Predictor
from tasks_lib.samples import Sample
from tasks_lib.solvers.call_range import CallRanges
from tasks_lib.solvers.postprocessing import PythonPostprocessor
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.grouped import SolverOutput
from tasks_lib.trace.legacy import to_legacy

MessageFormat = Literal["open_responses", "latticeflow"]


@dataclass(frozen=True, slots=True)
class SolverContext:
    """What a solver needs beside the sample.

    Attributes:
        model_key: the evaluated model; empty when the solver calls none.
        calls: the way to models.
    """

    model_key: str
    calls: Predictor


class BrokenOffError(SampleError):
    """A sample that failed after something was said in it.

    Args:
        cause: why.
        output: what was said until then, which is stored with the error.
    """

    def __init__(self, cause: SampleError, output: SolverTrace) -> None:
        super().__init__(cause.error_class, cause.problem, cause.where, cause.fix)
        self.output = output

    def __reduce__(self) -> tuple[type[SampleError], tuple[str, ...]]:
        return SampleError, self.args  # what was said is in the run folder


class BaseSolver(Definition):
    """A way to answer samples; members are listed in `solvers/__init__.py`."""

    calls_models: ClassVar[bool] = True
    """Whether it does model I/O and so runs on the model loop; else `replay` answers."""

    postprocessor: PythonPostprocessor | None = None
    """Makes any number of rows of a solved sample, each scored by itself."""

    def shown(self, output: SolverTrace) -> SolverOutput:
        """Return an output in the form in which authors' code sees it."""
        return output

    async def solve(self, sample: Sample, context: SolverContext) -> SolverTrace:
        """Answer one sample, calling models through `context`.

        Raises:
            SampleError: the sample could not be answered.
        """
        return self.replay(sample)

    def replay(self, sample: Sample) -> SolverTrace:
        """Answer one sample without any I/O; only for solvers that call no models.

        Raises:
            SampleError: the sample could not be answered.
        """
        raise TypeError(f"{type(self).__name__} calls models")

    def own_limits(self) -> list[float]:
        """Return the seconds that each piece of authors' code may take for a sample."""
        return [] if self.postprocessor is None else [self.postprocessor.timeout]

    def calls(self, evaluated: str) -> CallRanges:
        """Return how many calls a sample takes, by the key of the model that is called.

        Args:
            evaluated: the evaluated model's key.
        """
        return {}

    @property
    def asks_evaluated_model(self) -> bool:
        """Whether it may call the evaluated model, and not only helpers."""
        return "" in self.calls("")

    def first_input(self, sample: Sample) -> Any:
        """Return what a model is sent first for a sample; None when that can't be foretold.

        Nothing is called.

        Raises:
            SampleError: the input can't be built.
        """
        return None


class ConversationSolver(BaseSolver):
    """A solver whose conversation authors' code may see in either form."""

    message_format: MessageFormat = "open_responses"
    """How the conversation is given to scorers; `latticeflow` is the deprecated form."""

    def shown(self, output: SolverTrace) -> SolverOutput:
        return to_legacy(output) if self.message_format == "latticeflow" else output
