"""The metrics of a task result log: rows of the metrics table, a record for each metric."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.load import StoredRun
from tasks_lib.results.metric_rows import MetricRow, metric_rows
from tasks_lib.results.parquet import read_table
from tasks_lib.results.schemas import METRIC_COLUMNS
from tasks_lib.results.scores import read_scores
from tasks_lib.results.task_result.samples import OWN_KEY, Scorers, error, with_constants

_MADE_HERE = {
    "spec_key": "",
    "task_key": "",
    "model_key": None,
}
"""Columns that a log's reader fills in."""

SHARED = (*_MADE_HERE, "scorer_key", "purpose", "metric_key", "metric_type")
"""Columns that all values of a metric have in common."""

OWN_METRIC_COLUMNS = tuple(name for name in METRIC_COLUMNS if name not in SHARED)
"""Columns of a value that a metric keeps under `OWN_KEY`."""


def keyed_scorers(stored: StoredRun, spec: ResolvedSpec) -> Scorers:
    """Return the scorers that a run has scores of, by key; None for one the task has not.

    The task's own come first, in its order.
    """
    there = stored.scorer_keys(spec.key)
    ordered = dict.fromkeys([key for key in spec.scorers if key in there] + there)
    return {key: spec.scorers.get(key) for key in ordered}


def stored_metrics(stored: StoredRun, spec_key: str) -> list[MetricRow]:
    """Return a specification's rows of the metrics table of a complete run.

    Raises:
        StoreError: the table can't be read.
    """
    rows: list[MetricRow] = read_table(stored.folder.metrics).to_pylist()
    return [row for row in rows if row["spec_key"] == spec_key]


def metrics_data(rows: Iterable[MetricRow], scorers: Scorers) -> list[dict[str, Any]]:
    """Return metrics as `MetricData`; a value that there is none of is left out, with a reason."""
    grouped: dict[tuple[Any, ...], list[MetricRow]] = {}
    for row in rows:
        grouped.setdefault(tuple(row[name] for name in SHARED), []).append(row)
    return [_metric_data(values, scorers) for values in grouped.values()]


def _metric_data(rows: Sequence[MetricRow], scorers: Scorers) -> dict[str, Any]:
    first = rows[0]
    scorer = scorers.get(first["scorer_key"])
    reasons = dict.fromkeys(row["reason"] for row in rows if row["reason"])
    values = {row["name"]: row["value"] for row in rows if row["value"] is not None}
    return {
        "values": with_constants(values),
        "metric_key": first["metric_key"],
        "metric_type": first["metric_type"],
        "scorer_name": scorer.display_name if scorer else None,
        "scorer_key": first["scorer_key"],
        "scorer_purpose": first["purpose"],
        "reason": "; ".join(reasons) or None,
        OWN_KEY: with_constants([{name: row[name] for name in OWN_METRIC_COLUMNS} for row in rows]),
    }


def metric_errors(rows: Iterable[MetricRow]) -> list[dict[str, Any]]:
    """Return an error for every value that could not be computed."""
    return [
        error("metric", f"{row['scorer_key']}: {row['name']}: {row['reason']}", "metric")
        for row in rows
        if row["value"] is None
    ]


def run_metrics(
    stored: StoredRun, spec: ResolvedSpec, scorers: Scorers, run: int
) -> list[dict[str, Any]]:
    """Return the metrics of one run of the samples; the table holds what all runs come to.

    Raises:
        StoreError: the scores can't be read.
    """
    import pyarrow.compute as pc

    rows: list[MetricRow] = []
    shared: Mapping[str, Any] = _MADE_HERE
    for key, scorer in scorers.items():
        if scorer is not None:
            scores = read_scores(stored.folder.scores(spec.key, key))
            own = scores.filter(pc.equal(scores.column("trial"), run))
            rows += metric_rows(shared, key, scorer, own)
    return metrics_data(rows, scorers)
