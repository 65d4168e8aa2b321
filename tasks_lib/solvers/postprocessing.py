"""Postprocessors: one solved sample becomes any number of rows to score."""

from dataclasses import dataclass
from typing import Any, Literal

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.snippets import SnippetSource, load_snippet
from tasks_lib.trace import SolverTrace


@dataclass(frozen=True, slots=True)
class Derived:
    """One row made of a sample.

    Attributes:
        sample: the columns that scorers see.
        output: the solver's output that scorers see; None in a task without solver.
    """

    sample: dict[str, Any]
    output: SolverTrace | None


class PythonPostprocessor(Definition):
    """Runs the author's `postprocess(sample, solver_output)`."""

    type: Literal["python"]
    """Names this postprocessor."""
    postprocess_snippet: SnippetSource("postprocess")  # type: ignore[valid-type]
    """Source that defines `postprocess`; returns a list of (sample, solver_output) pairs."""

    async def derive(self, sample: dict[str, Any], output: SolverTrace) -> list[Derived]:
        """Return the rows made of one solved sample; none is allowed.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        postprocess = load_snippet(self.postprocess_snippet, "postprocess")
        return _read(await postprocess.acall(dict(sample), output))

    def derive_now(self, sample: dict[str, Any], output: SolverTrace) -> list[Derived]:
        """Do what `derive` does, in this thread.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        postprocess = load_snippet(self.postprocess_snippet, "postprocess")
        return _read(postprocess(dict(sample), output))


def _read(returned: Any) -> list[Derived]:
    if not isinstance(returned, list | tuple):
        raise _wrong(f"{type(returned).__name__}, not a list")
    rows = []
    for place, pair in enumerate(returned):
        match pair:
            case (dict() as sample, SolverTrace() as output):
                rows.append(Derived(sample, output))
            case _:
                raise _wrong(f"a list whose entry {place} is no (sample, solver_output) pair")
    return rows


def _wrong(what: str) -> SampleError:
    return SampleError(
        "code",
        f"postprocess returned {what}",
        fix="return a list of (sample, solver_output) pairs",
    )
