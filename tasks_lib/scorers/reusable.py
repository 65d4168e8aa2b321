"""Scorers that authors' snippets call, as `latticeflow.core.experimental.scorers`."""

from abc import ABC
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.scorers import (
    disallowed_function_calls,
    function_call_coverage,
    function_call_output_contains,
    function_call_output_not_contains,
    string_equals,
    string_equals_mcqa,
)
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.score import Row
from tasks_lib.trace import SolverTrace
from tasks_lib.trace.evidence import SampleScore


class Reusable(SampleScorer, ABC):
    """A scorer made in a snippet, with the fields it has in YAML, and awaited there."""

    async def ascore(
        self, *, sample: dict[str, Any], solver_output: SolverTrace | None = None
    ) -> SampleScore:
        """Return the scores of one row.

        Args:
            sample: the dataset columns.
            solver_output: what the solver left, as the snippet got it.

        Raises:
            SampleError: the row can't be scored.
        """
        if not isinstance(solver_output, SolverTrace | None):
            raise SampleError(
                "code",
                f"ascore got a {type(solver_output).__name__} as solver_output",
                fix="use a solver with 'message_format: open_responses'",
            )
        score = self.score(Row(sample, solver_output))
        return SampleScore(values=score.values, metadata=score.metadata)


class StringEquals(string_equals.StringEquals, Reusable):
    """`string_equals` for snippets."""


class StringEqualsMCQA(string_equals_mcqa.StringEqualsMCQA, Reusable):
    """`string_equals_mcqa` for snippets."""


class FunctionCallCoverage(function_call_coverage.FunctionCallCoverage, Reusable):
    """`function_call_coverage` for snippets."""


class DisallowedFunctionCalls(disallowed_function_calls.DisallowedFunctionCalls, Reusable):
    """`disallowed_function_calls` for snippets."""


class FunctionCallOutputContains(
    function_call_output_contains.FunctionCallOutputContains, Reusable
):
    """`function_call_output_contains` for snippets."""


class FunctionCallOutputNotContains(
    function_call_output_not_contains.FunctionCallOutputNotContains, Reusable
):
    """`function_call_output_not_contains` for snippets."""
