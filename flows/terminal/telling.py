"""What a run tells on the terminal: progress and logs on stderr, results on stdout."""

import shlex
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from flows.store import store_folder
from flows.terminal.costs import paid_words, why_unknown
from tasks_lib import exit_codes
from tasks_lib.errors import CircuitError, StoreError
from tasks_lib.jsontext import dumps
from tasks_lib.report.endings import ending, failure_notes
from tasks_lib.report.text import printable
from tasks_lib.results.load import StoredRun
from tasks_lib.runs.run import Run, StepResult
from tasks_lib.secrets import redact

MOST_NOTES = 5


@contextmanager
def showing_progress(run: Run, wanted: bool) -> Iterator[None]:
    """Show a moving bar on stderr while the block runs; plain lines where it is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield
        return
    from flows.terminal.progress_bar import progress_bar

    with progress_bar(run):
        yield


def tell_result(
    run: Run, result: StepResult, json: bool, verbose: bool, command: str | None = None
) -> None:
    """Print a finished run's metrics on stdout, the rest on stderr.

    Args:
        run: the run.
        result: what `steps.reduce` returned.
        json: whether stdout gets a JSON document.
        verbose: whether more is told on stderr.
        command: continues a run that the budget stopped; None when it is complete.
    """
    status = result["status"]
    if json:
        _print_document(run, status, result["exit_code"], command, result["metrics"])
    else:
        from rich.console import Console

        from tasks_lib.report.tables import metrics_table, reasons

        console = Console(width=None if sys.stdout.isatty() else 140)
        console.print(metrics_table(result["metrics"]))
        tell_notes(reasons(result["metrics"]), verbose)
    if any(row["n_error"] for row in result["metrics"]) or result["exit_code"]:
        tell_failures(StoredRun(run.folder), verbose)
    tell_warnings(run.warnings)
    totals = run.models.totals
    fresh = totals.total - totals.from_ledger
    words = [f"{fresh:,} calls", f"{totals.from_ledger:,} from the ledger"]
    words += filter(None, (paid_words(run), why_unknown(run)))
    hint = f"; resume with: {command}" if command else ""
    print(
        f"{ending(status, result['exit_code'])}: run {run.plan.run_id} ({', '.join(words)}) "
        f"in {run.folder.path}{hint}",
        file=sys.stderr,
    )


def tell_notes(notes: Sequence[str], verbose: bool) -> None:
    """Print what the metrics table can't say, on stderr; the first of many unless `verbose`."""
    shown = notes if verbose else notes[:MOST_NOTES]
    for note in shown:
        print(f"note: {printable(note)}", file=sys.stderr)
    if len(shown) < len(notes):
        print(f"note: and {len(notes) - len(shown)} more, shown with -v", file=sys.stderr)


def tell_failures(stored: StoredRun, verbose: bool) -> None:
    """Print why rows failed, and the command that lists them, on stderr."""
    notes = failure_notes(stored)
    tell_notes(notes, verbose)
    if notes:
        print(f"list them with: {show_command(stored, '--errors')}", file=sys.stderr)


def show_command(stored: StoredRun, what: str) -> str:
    """Return the command that shows something of a run, from where we are."""
    store = stored.folder.store
    elsewhere = [] if store == store_folder() else ["-o", str(store)]
    return shlex.join(["evalmill", "show", stored.folder.run_id, what, *elsewhere])


def tell_warnings(warnings: Iterable[str]) -> None:
    """Print a run's warnings on stderr."""
    for warning in warnings:
        print(f"warning: {printable(warning)}", file=sys.stderr)


def resume_command(run: Run, flags: Sequence[str]) -> str:
    """Return the command that continues a run.

    Args:
        run: the run.
        flags: what it needs beyond the run and its store.
    """
    store = str(run.plan.settings.store)
    return shlex.join(["evalmill", "run", "--resume", run.plan.run_id, "-o", store, *flags])


def tell_interruption(run: Run, json: bool, command: str) -> None:
    """Print how far an interrupted run came and the command that resumes it.

    Args:
        run: the run.
        json: whether stdout gets a JSON document.
        command: resumes it.
    """
    if json:
        _print_document(run, "interrupted", exit_codes.INTERRUPTED, command)
    print(
        f"interrupted: {_how_far(run, run.progress.samples_done)}; resume with: {command}",
        file=sys.stderr,
    )


def tell_breaking_off(run: Run, cause: CircuitError | StoreError, json: bool, command: str) -> None:
    """Print why a run was stopped because of a model or the store, and how to go on.

    Args:
        run: the run.
        cause: why.
        json: whether stdout gets a JSON document.
        command: resumes it, which is of use when something was paid for.
    """
    resumable = isinstance(cause, StoreError) or (cause.resumable and run.models.totals.total > 0)
    if json:
        code = exit_codes.TOO_MANY_ERRORS
        _print_document(run, "failed", code, command if resumable else None)
    print(f"stopped: {printable(redact(str(cause)))}", file=sys.stderr)
    hint = f"; once that is mended, resume with: {command}" if resumable else ""
    solved = run.progress.samples_done - run.progress.samples_failed
    print(f"failed: {_how_far(run, solved)}{hint}", file=sys.stderr)


def _how_far(run: Run, done: int) -> str:
    paid = paid_words(run)
    return (
        f"run {run.plan.run_id}, {done:,} of {run.progress.samples_total:,} samples done"
        f"{', ' if paid else ''}{paid}"
    )


def _print_document(
    run: Run,
    status: str,
    exit_code: int,
    command: str | None,
    metrics: Sequence[Mapping[str, Any]] = (),
) -> None:
    folder = run.folder
    print(
        dumps(
            {
                "run_id": run.plan.run_id,
                "status": status,
                "exit_code": exit_code,
                "run_dir": str(folder.path),
                "paths": {
                    "run": str(folder.run_json),
                    "resolved": str(folder.resolved),
                    "samples": str(folder.path / "samples"),
                    "scores": str(folder.path / "scores"),
                    "metrics": str(folder.metrics),
                },
                "metrics": metrics,
                "cost_usd": run.models.spending.cost_usd,
                "resume": command,
                "warnings": run.warnings,
            }
        )
    )
