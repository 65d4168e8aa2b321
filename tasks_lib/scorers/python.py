"""`python`: an author's function scores each row."""

from typing import Literal

from tasks_lib.metrics import Metric
from tasks_lib.scorers.base import SampleScorer
from tasks_lib.scorers.returned import read_score
from tasks_lib.scorers.score import Row, Score
from tasks_lib.snippets import SnippetSource, load_snippet


class PythonScorer(SampleScorer):
    """Calls `compute_scores(sample, solver_output)`, or `compute_scores(sample)`, per row."""

    type: Literal["python"] = "python"
    metrics: tuple[Metric, ...]
    """What to aggregate; may be empty, since a snippet's scores have no metrics of their own."""
    compute_scores_snippet: SnippetSource("compute_scores")  # type: ignore[valid-type]
    """Python source that defines `compute_scores`."""

    def judge(self, row: Row) -> Score:
        snippet = load_snippet(self.compute_scores_snippet, "compute_scores")
        # A copy: what a snippet does to its sample is not for the next scorer to see.
        return read_score(snippet(dict(row.sample), row.shown_output), "compute_scores")
