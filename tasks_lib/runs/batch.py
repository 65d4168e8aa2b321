"""Some samples of a run that are solved and scored together."""

from dataclasses import dataclass
from pathlib import Path

from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.folder import part_name
from tasks_lib.runs.run import Run
from tasks_lib.sources import Rows


@dataclass(frozen=True)
class Batch:
    """Samples `[start, stop)` of a specification of an open run."""

    run: Run
    spec_key: str
    start: int
    stop: int

    @property
    def spec(self) -> ResolvedSpec:
        """The specification."""
        return self.run.spec(self.spec_key)

    @property
    def rows(self) -> Rows:
        """The rows of all samples of the specification."""
        return self.run.rows[self.spec_key]

    @property
    def samples(self) -> Path:
        """The part of its sample rows; need not be there yet."""
        return self.run.folder.samples(self.spec_key) / part_name(self.start, self.stop)

    def scores(self, scorer_key: str) -> Path:
        """The part of one scorer's rows; need not be there yet."""
        return self.run.folder.scores(self.spec_key, scorer_key) / part_name(self.start, self.stop)


def batches(run: Run, spec_key: str) -> list[Batch]:
    """Return all batches of a specification, in the order of its samples."""
    return [Batch(run, spec_key, start, stop) for start, stop in run.plan.spec(spec_key).batches]
