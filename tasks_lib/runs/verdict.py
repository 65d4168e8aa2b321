"""What a finished run comes to: its status and exit code."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal

from tasks_lib import exit_codes
from tasks_lib.plan import RunSettings
from tasks_lib.plan.prices import usd

RunStatus = Literal["running", "complete", "interrupted", "failed"]


@dataclass(frozen=True, slots=True)
class SpecOutcome:
    """How the rows of one specification ended.

    Attributes:
        n_error: rows that failed in the solver or in some scorer.
        n_excluded: scored rows that a rule left out of the metrics.
        n_skipped: rows that the budget did not allow to be solved, or scored by every scorer.
        calls: model replies used.
        ledger_hits: of these, from the ledger.
        cost_usd: the price of these, those from the ledger included; None when it is not known
            of all.
    """

    key: str
    n_rows: int
    n_error: int
    n_excluded: int = 0
    n_skipped: int = 0
    calls: int = 0
    ledger_hits: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None

    @property
    def n_scored(self) -> int:
        """Rows that every scorer scored and no rule excluded."""
        return self.n_rows - self.n_error - self.n_excluded - self.n_skipped


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

    Rows that the budget did not allow come first: the run is not at its end. Then more errors
    than allowed: a gate over rows that are missing says nothing. And a gate that the failed
    rows could turn is neither held nor failed.

    Args:
        outcomes: how each specification ended.
        metrics: the rows of the metrics table.
        settings: allowed error rate and gates.
    """
    rows = sum(outcome.n_rows for outcome in outcomes)
    errors = sum(outcome.n_error for outcome in outcomes)
    if skipped := sum(outcome.n_skipped for outcome in outcomes):
        budget = usd(settings.budget_usd or 0.0)
        words = f"the budget of {budget} is used up: {skipped:,} of {rows:,} rows were skipped"
        return Verdict("interrupted", exit_codes.OVER_BUDGET, (words,))
    if rows and errors == rows:
        return Verdict("failed", exit_codes.TOO_MANY_ERRORS, (f"{errors} of {rows} rows failed",))
    if rows and errors / rows > settings.max_error_rate:
        words = (
            f"{errors} of {rows} rows failed, more than the {settings.max_error_rate:.1%} allowed"
        )
        return Verdict("complete", exit_codes.TOO_MANY_ERRORS, (words,))
    headline = [row for row in metrics if row["purpose"] != "qa"]
    if headline and all(row["value"] is None for row in headline):
        words = "no metric has a value"
        return Verdict("failed", exit_codes.TOO_MANY_ERRORS, (words,))
    gates = [_gate(name, least, metrics) for name, least in settings.fail_under.items()]
    for ending in ("failed", "undecided"):
        words_of = tuple(words for state, words in chain(*gates) if state == ending)
        if words_of:
            code = exit_codes.GATE_FAILED if ending == "failed" else exit_codes.TOO_MANY_ERRORS
            return Verdict("complete", code, words_of)
    return Verdict("complete", exit_codes.DONE)


GateState = Literal["held", "failed", "undecided"]


def _gate(
    name: str, least: float, metrics: Sequence[dict[str, Any]]
) -> list[tuple[GateState, str]]:
    """Say how the gate `name` ends on every row it is for."""
    found = [
        row
        for row in metrics
        if name == row["name"] or (name == row["metric_key"] and not _is_spread(row, metrics))
    ]
    if not found:
        known = ", ".join(sorted({row["name"] for row in metrics})) or "none"
        return [("failed", f"gate failed: no metric is named '{name}' (metrics: {known})")]
    return [_gate_on(row, f"{row['spec_key']} {name}", least) for row in found]


def _is_spread(row: dict[str, Any], metrics: Sequence[dict[str, Any]]) -> bool:
    """Whether a value is how much the mean beside it varies between runs (repeatability)."""
    stem = row["name"].removesuffix("_std")
    if stem == row["name"]:
        return False
    mean = {name: row[name] for name in ("spec_key", "scorer_key", "metric_key")}
    mean["name"] = f"{stem}_mean"
    return any(all(other[name] == mean[name] for name in mean) for other in metrics)


def _gate_on(row: dict[str, Any], what: str, least: float) -> tuple[GateState, str]:
    value, low, high = row["value"], row["bound_low"], row["bound_high"]
    if value is None or math.isnan(value):
        return "failed", f"gate failed: {what} has no value"
    if row["n_error"] and None not in (low, high) and low < least <= high:
        return "undecided", (
            f"gate undecided: {what} is {value:.4g}, but its {row['n_error']} failed rows could "
            f"make it anything from {low:.4g} to {high:.4g}, and the gate is at {least:g}"
        )
    if value < least:
        return "failed", f"gate failed: {what} is {value:.4g}, under {least:g}"
    return "held", ""
