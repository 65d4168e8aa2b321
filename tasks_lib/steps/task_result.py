"""The metrics of a specification whose results are taken over from a task result log."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.metric_rows import MetricRow, metric_input
from tasks_lib.results.scores import read_scores
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.run import Run
from tasks_lib.runs.verdict import SpecOutcome
from tasks_lib.steps.sample_totals import read_totals, reply_warnings
from tasks_lib.steps.spec_outcome import counting_rows, spec_outcome


def logged_metrics(
    run: Run, spec: ResolvedSpec, rows: LoggedSamples, shared: Mapping[str, Any]
) -> tuple[list[MetricRow], SpecOutcome]:
    """Return the rows of the metrics table as the log has them, and how its rows ended.

    Metrics are not computed again. How many rows are behind them is counted where the log
    doesn't say it.

    Args:
        run: the open run; told of what the log says went wrong.
        spec: the specification.
        rows: the log's samples.
        shared: the columns that name the specification.

    Raises:
        StoreError: what was taken over can't be read.
    """
    evidence = rows.log.evidence
    told = [*rows.log.log["errors"], *(evidence.get("errors") or ())]
    run.warn(*(f"{spec.key}: the log says: {error['message']}" for error in told))
    metrics = rows.metric_rows(shared)
    if len(rows) == 0:
        outcome = _outcome_without_samples(spec.key, evidence, failed=bool(told))
        return [_counted(row, {}) for row in metrics], outcome
    tables = {key: read_scores(run.folder.scores(spec.key, key)) for key in rows.log.scorers}
    counts = {}
    for key, table in tables.items():
        found = metric_input(counting_rows(spec, table)).counts
        counts[key] = {
            "n": found.n,
            "n_total": found.n_total,
            "n_error": found.n_error,
            "n_skipped": found.n_skipped,
            "n_excluded": found.n_excluded,
        }
    totals = read_totals(run.folder.samples(spec.key))
    run.warn(*reply_warnings(spec.key, totals))
    counted = [_counted(row, counts.get(row["scorer_key"], {})) for row in metrics]
    outcome = spec_outcome(spec, totals, tables)
    return counted, replace(outcome, calls=0, ledger_hits=0, input_tokens=0, output_tokens=0)


def _counted(row: MetricRow, counts: Mapping[str, int]) -> MetricRow:
    """Return a row whose counts are known: as the log has them, else as counted, else none."""
    known = {"n": int(row["value"] is not None), "n_total": 1} | dict(counts)
    for name in ("n", "n_total", "n_error", "n_skipped", "n_excluded"):
        if row[name] is None:
            row[name] = known.get(name, 0)
    return row


def _outcome_without_samples(
    spec_key: str, evidence: Mapping[str, Any], *, failed: bool
) -> SpecOutcome:
    """How a task ended of which the log holds no samples: as a row of its own, or as counted."""
    failures = evidence.get("failures") or {}
    total = failures.get("num_total") or 1
    errors = failures.get("num_errors") or 0
    if failed or not evidence:
        errors = max(errors, total if not evidence.get("metrics") else 0)
    return SpecOutcome(spec_key, total, errors)
