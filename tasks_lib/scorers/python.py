"""`python`: an author's function scores each row."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

from tasks_lib.errors import SampleError
from tasks_lib.isolation.member import SnippetMember
from tasks_lib.metrics import Metric
from tasks_lib.scorers.base import SampleScorer, attempted
from tasks_lib.scorers.returned import read_score
from tasks_lib.scorers.score import Row, Score
from tasks_lib.snippets import SnippetSource
from tasks_lib.trace.plain import copy_json

_FUNCTION = "compute_scores"


class PythonScorer(SnippetMember, SampleScorer):
    """Calls `compute_scores(sample, solver_output)`, or `compute_scores(sample)`, per row."""

    type: Literal["python"] = "python"
    metrics: tuple[Metric, ...]
    """What to aggregate; may be empty, since a snippet's scores have no metrics of their own."""
    compute_scores_snippet: SnippetSource("compute_scores")  # type: ignore[valid-type]
    """Python source that defines `compute_scores`."""

    def judge(self, row: Row) -> Score:
        return _judged(lambda *args: self.call(self.compute_scores_snippet, _FUNCTION, *args), row)

    def score_each(self, rows: Sequence[Row]) -> list[Score | SampleError]:
        return self.call_each(
            self.compute_scores_snippet,
            _FUNCTION,
            rows,
            lambda compute_scores, row: attempted(partial(_judged, compute_scores), row),
            lambda error: error,
        )


def _judged(compute_scores: Callable[..., Any], row: Row) -> Score:
    # A copy: what a snippet does to its sample is not for the next scorer to see.
    return read_score(compute_scores(copy_json(row.sample), row.shown_output), _FUNCTION)
