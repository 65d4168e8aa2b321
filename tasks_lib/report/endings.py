"""How a run ended and why rows failed, in words for the terminal."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tasks_lib import exit_codes
from tasks_lib.report.listing import failed_part
from tasks_lib.report.text import one_line
from tasks_lib.results.folder import parts
from tasks_lib.results.load import StoredRun

_WIDTH = 300  # characters of an example
_REASONS = {
    exit_codes.GATE_FAILED: "a gate failed",
    exit_codes.TOO_MANY_ERRORS: "too many rows failed",
    exit_codes.OVER_BUDGET: "stopped by the budget",
}


def ending(status: str, exit_code: int | None) -> str:
    """Return a finished run's status with what its exit code adds: `complete, a gate failed`."""
    reason = _REASONS.get(exit_code or 0)
    return f"{status}, {reason}" if reason else status


@dataclass
class _Failures:
    """Rows that failed in one place for one class of reasons."""

    count: int
    sample_id: str
    message: str


def failure_notes(stored: StoredRun) -> list[str]:
    """Return a line for each place and class of failures, with the first one as an example."""
    notes: list[str] = []
    for spec in stored.spec_keys:
        notes += _notes(spec, "solver", stored.folder.samples(spec))
        for scorer in stored.scorer_keys(spec):
            notes += _notes(spec, f"scorer {scorer}", stored.folder.scores(spec, scorer))
    return notes


def _notes(spec: str, place: str, folder: Path) -> Iterator[str]:
    found: dict[str, _Failures] = {}
    for path in parts(folder):
        for error_class, failures in _failures(path):
            known = found.setdefault(error_class, failures)
            if known is not failures:
                known.count += failures.count
    for error_class, failures in found.items():
        rows = "row" if failures.count == 1 else "rows"
        yield (
            f"{spec}: {failures.count:,} {rows} failed in the {place} ({error_class} error), "
            f"first sample '{one_line(failures.sample_id, 60)}': "
            f"{one_line(failures.message, _WIDTH)}"
        )


def _failures(path: Path) -> Iterator[tuple[str, _Failures]]:
    """Yield the classes of failures in a part."""
    import pyarrow.compute as pc

    table = failed_part(path)
    for error_class in pc.unique(table.column("error_class")).to_pylist():
        alike = table.filter(pc.equal(table.column("error_class"), error_class))
        first = alike.slice(0, 1).to_pylist()[0]
        yield error_class, _Failures(len(alike), first["sample_id"], first["error_message"])
