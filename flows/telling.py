"""What a run tells on the terminal: progress and logs on stderr, results on stdout."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tasks_lib.jsontext import dumps
from tasks_lib.runtime import Run, StepResult


@contextmanager
def showing_progress(run: Run, wanted: bool) -> Iterator[None]:
    """Show a moving bar on stderr while the block runs; plain lines where it is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield
        return
    from flows.progress_bar import progress_bar

    with progress_bar(run):
        yield


def tell_result(run: Run, result: StepResult, json: bool, verbose: bool) -> None:
    """Print a finished run's metrics on stdout, the rest on stderr."""
    status = result["status"]
    if json:
        print(
            dumps(
                {
                    "run_id": run.plan.run_id,
                    "status": status,
                    "exit_code": result["exit_code"],
                    "run_dir": str(run.folder.path),
                    "metrics": result["metrics"],
                    "warnings": run.warnings,
                }
            )
        )
    else:
        from rich.console import Console

        from tasks_lib.report.tables import metrics_table, reasons

        console = Console(width=None if sys.stdout.isatty() else 140)
        console.print(metrics_table(result["metrics"]))
        notes = reasons(result["metrics"])
        for note in notes if verbose else notes[:5]:
            print(f"note: {note}", file=sys.stderr)
    for warning in run.warnings:
        print(f"warning: {warning}", file=sys.stderr)
    totals = run.models.totals
    fresh = totals.total - totals.from_ledger
    words = f"{fresh:,} calls, {totals.from_ledger:,} from the ledger"
    print(f"{status}: run {run.plan.run_id} ({words}) in {run.folder.path}", file=sys.stderr)


def tell_interruption(run: Run, json: bool) -> None:
    """Print how far an interrupted run came and the command that resumes it."""
    progress = run.progress
    command = f"evalmill run --resume {run.plan.run_id} -o {run.plan.settings.store}"
    if json:
        print(
            dumps(
                {
                    "run_id": run.plan.run_id,
                    "status": "interrupted",
                    "exit_code": 130,
                    "run_dir": str(run.folder.path),
                    "resume": command,
                    "warnings": run.warnings,
                }
            )
        )
    print(
        f"interrupted: run {run.plan.run_id}, {progress.samples_done:,} of "
        f"{progress.samples_total:,} samples done; resume with: {command}",
        file=sys.stderr,
    )
