"""Postprocessors: one solved sample becomes any number of rows to score."""

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

from tasks_lib.errors import SampleError
from tasks_lib.isolation.member import SnippetMember
from tasks_lib.snippets import SnippetSource
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.grouped import GroupedSolverTrace, SolverOutput, joined
from tasks_lib.trace.legacy import SingleSolverOutput, from_legacy, to_legacy


@dataclass(frozen=True, slots=True)
class Derived:
    """One row made of a sample.

    Attributes:
        sample: the columns that scorers see.
        output: the solver's output that scorers see; None in a task without solver.
    """

    sample: dict[str, Any]
    output: SolverTrace | None


class PythonPostprocessor(SnippetMember):
    """Runs the author's `postprocess(sample, solver_output)` on each solved sample."""

    type: Literal["python"]
    """Names this postprocessor."""
    postprocess_snippet: SnippetSource("postprocess")  # type: ignore[valid-type]
    """Source that defines `postprocess`; returns a list of (sample, solver_output) pairs."""

    async def derive(
        self, sample: dict[str, Any], solved: SolverTrace, shown: SolverOutput
    ) -> list[Derived]:
        """Return the rows made of one solved sample; none is allowed.

        Args:
            sample: its columns.
            solved: what solving it left.
            shown: the same in the form that the snippet sees and may return.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        returned = await self.call_async(
            self.postprocess_snippet, "postprocess", deepcopy(sample), shown
        )
        return _read(returned, solved)

    def derive_now(
        self, sample: dict[str, Any], solved: SolverTrace, shown: SolverOutput
    ) -> list[Derived]:
        """Do what `derive` does, in this thread.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        returned = self.call(self.postprocess_snippet, "postprocess", deepcopy(sample), shown)
        return _read(returned, solved)


def _read(returned: Any, solved: SolverTrace) -> list[Derived]:
    if not isinstance(returned, list | tuple):
        raise _wrong(f"{type(returned).__name__}, not a list")
    rows = []
    for place, pair in enumerate(returned):
        match pair:
            case (dict() as sample, SolverTrace() as output):
                rows.append(Derived(sample, output))
            case (dict() as sample, SingleSolverOutput() as output):
                rows.append(Derived(sample, _of_legacy(output, solved)))
            case (dict() as sample, GroupedSolverTrace() as output):
                rows.append(Derived(sample, joined(output.solver_outputs)))
            case _:
                raise _wrong(f"a list whose entry {place} is no (sample, solver_output) pair")
    return rows


def _of_legacy(output: SingleSolverOutput, solved: SolverTrace) -> SolverTrace:
    """Return an output in older form as a trace; what the form can't hold stays if unchanged."""
    unchanged = output.model_dump_json() == to_legacy(solved).model_dump_json()
    return solved if unchanged else from_legacy(output)


def _wrong(what: str) -> SampleError:
    return SampleError(
        "code",
        f"postprocess returned {what}",
        fix="return a list of (sample, solver_output) pairs",
    )
