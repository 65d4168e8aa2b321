"""What a finished run comes to: its status and exit code."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tasks_lib import exit_codes
from tasks_lib.plan import RunSettings

RunStatus = Literal["running", "complete", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class SpecOutcome:
    """How the rows of one specification ended.

    Attributes:
        n_error: rows that failed in the solver or in some scorer.
        n_solver_errors: of these, in the solver.
        n_excluded: scored rows that a rule left out of the metrics.
        calls: model replies used.
        ledger_hits: of these, from the ledger.
    """

    key: str
    n_rows: int
    n_error: int
    n_solver_errors: int
    n_excluded: int
    calls: int
    ledger_hits: int
    input_tokens: int
    output_tokens: int

    @property
    def n_scored(self) -> int:
        """Rows that every scorer scored and no rule excluded."""
        return self.n_rows - self.n_error - self.n_excluded


@dataclass(frozen=True, slots=True)
class Verdict:
    """Status and exit code of a finished run, with the sentences that explain them."""

    status: RunStatus
    exit_code: int
    words: tuple[str, ...] = ()


def judge_run(
    outcomes: Sequence[SpecOutcome], metrics: Sequence[dict[str, Any]], settings: RunSettings
) -> Verdict:
    """Return the verdict on a run that reached its end.

    More errors than allowed come first: a gate over rows that are missing says nothing.

    Args:
        outcomes: how each specification ended.
        metrics: the rows of the metrics table.
        settings: allowed error rate and gates.
    """
    rows = sum(outcome.n_rows for outcome in outcomes)
    errors = sum(outcome.n_error for outcome in outcomes)
    every = rows > 0 and errors == rows
    if errors > settings.max_error_rate * rows or every:
        words = f"{errors} of {rows} rows failed"
        if not every:
            words += f", more than the {settings.max_error_rate:.1%} allowed"
        return Verdict("failed" if every else "complete", exit_codes.TOO_MANY_ERRORS, (words,))
    gates = (_gate(name, least, metrics) for name, least in settings.fail_under.items())
    failures = [failure for failure in gates if failure is not None]
    if failures:
        return Verdict("complete", exit_codes.GATE_FAILED, tuple(failures))
    return Verdict("complete", exit_codes.DONE)


def _gate(name: str, least: float, metrics: Sequence[dict[str, Any]]) -> str | None:
    """Say how the gate `name` fails; None when it holds."""
    found = [row for row in metrics if name in (row["name"], row["metric_key"])]
    if not found:
        known = ", ".join(sorted({row["name"] for row in metrics})) or "none"
        return f"gate failed: no metric is named '{name}' (metrics: {known})"
    for row in found:
        if row["value"] is None or row["value"] < least:
            value = "no value" if row["value"] is None else f"{row['value']:.4g}"
            return f"gate failed: {row['spec_key']} {name} is {value}, under {least:g}"
    return None
