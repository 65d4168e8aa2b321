"""The bar that shows how far a run is."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from flows.terminal.costs import paid_words
from tasks_lib.runs.run import Run


class RunProgress(Progress):
    """A progress bar that reads a run's counters whenever it is drawn."""

    def __init__(self, run: Run) -> None:
        self._run = run  # before the base: it draws once while it is made
        super().__init__(
            TextColumn("samples"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[calls]}"),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=4,
        )
        self.add_task("samples", total=run.progress.samples_total, calls="")

    def get_renderables(self) -> Iterable[RenderableType]:
        """Return the bar as the counters are now."""
        if not self.tasks:
            return super().get_renderables()
        progress, totals = self._run.progress, self._run.models.totals
        calls = f"{totals.total - totals.from_ledger:,} calls"
        if totals.from_ledger:
            calls += f", {totals.from_ledger:,} from the ledger"
        if progress.samples_failed:
            calls += f", {progress.samples_failed:,} failed"
        if progress.samples_skipped:
            calls += f", {progress.samples_skipped:,} skipped"
        if paid := paid_words(self._run):
            calls += f", {paid}"
        self.tasks[0].completed = progress.samples_done
        self.tasks[0].fields["calls"] = calls
        return super().get_renderables()


def progress_bar(run: Run) -> Progress:
    """Return the bar of a run, on stderr; shown while it is entered."""
    return RunProgress(run)
