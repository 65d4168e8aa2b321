"""`python_all_samples`: an author's function scores all rows together."""

from collections.abc import Sequence
from typing import Any, Literal

from tasks_lib.errors import SampleError, bounded
from tasks_lib.isolation.member import Seconds, SnippetMember
from tasks_lib.metrics import Metric
from tasks_lib.scorers.base import AllSamplesScorer, Datasets
from tasks_lib.scorers.no_answer import marked
from tasks_lib.scorers.returned import read_score
from tasks_lib.scorers.score import Row, Score
from tasks_lib.snippets import SnippetSource
from tasks_lib.trace.plain import copy_json


class PythonAllSamplesScorer(SnippetMember, AllSamplesScorer):
    """Calls `compute_scores(samples)`, or `compute_scores(samples, solver_outputs)`, once."""

    type: Literal["python_all_samples"] = "python_all_samples"
    metrics: tuple[Metric, ...]
    """What to aggregate; may be empty, since a snippet's scores have no metrics of their own."""
    compute_scores_snippet: SnippetSource("compute_scores")  # type: ignore[valid-type]
    """Python source that defines `compute_scores`, which returns one entry per sample."""
    timeout: Seconds = 3600.0
    """Seconds the one call for all samples may take; then the row of each is an error."""

    def score_all(self, rows: Sequence[Row], datasets: Datasets | None = None) -> list[Score]:
        returned = self.call(
            self.compute_scores_snippet,
            "compute_scores",
            _samples(rows, datasets),
            [row.shown_output for row in rows],
        )
        if not isinstance(returned, list | tuple):
            raise SampleError(
                "code",
                f"compute_scores returned {bounded(repr(returned), 80)}",
                fix="return a list with one entry per sample",
            )
        if len(returned) != len(rows):
            raise SampleError(
                "code",
                f"compute_scores returned {len(returned)} entries for {len(rows)} samples",
                fix="return one entry per sample, in the same order",
            )
        return [
            marked(read_score(entry, f"compute_scores()[{index}]"), row.solver_output)
            for index, (entry, row) in enumerate(zip(returned, rows, strict=True))
        ]


def _samples(rows: Sequence[Row], datasets: Datasets | None) -> Any:
    """Return the samples as a list; of several datasets, a list under each one's name."""
    if datasets is None:
        return [copy_json(row.sample) for row in rows]
    return {name: [copy_json(columns) for columns in named] for name, named in datasets.items()}
