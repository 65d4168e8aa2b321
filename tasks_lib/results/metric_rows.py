"""The rows of the metrics table that one scorer's scores come to."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tasks_lib.errors import MetricError
from tasks_lib.metrics import Metric
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.table import Counts, ScoreTable
from tasks_lib.results.schemas import METRIC_COLUMNS
from tasks_lib.results.scores import field_kinds, score_name
from tasks_lib.scorers import Scorer

if TYPE_CHECKING:
    import pyarrow as pa

MetricRow = dict[str, Any]
"""A row of the metrics table: every one of `METRIC_COLUMNS`."""


def metric_rows(
    shared: Mapping[str, Any], scorer_key: str, scorer: Scorer, table: "pa.Table"
) -> list[MetricRow]:
    """Return the rows of all metrics of a scorer.

    Args:
        shared: the columns that name the specification.
        scorer_key: the scorer's key in results.
        scorer: whose metrics.
        table: its scores, one row per row that may count.
    """
    scores = metric_input(table)
    return [
        metric_row(shared, scorer_key, scorer, key, metric.type, value, scores.counts)
        for key, metric in scorer.keyed_metrics().items()
        for value in computed(metric, key, scores)
    ]


def metric_row(
    shared: Mapping[str, Any],
    scorer_key: str,
    scorer: Scorer,
    metric_key: str,
    metric_type: str,
    value: MetricValue,
    counts: Counts,
) -> MetricRow:
    """Return one value of a metric as a row."""
    row = {
        **shared,
        "scorer_key": scorer_key,
        "purpose": scorer.purpose,
        "metric_key": metric_key,
        "metric_type": metric_type,
        "name": value.name,
        "value": value.value,
        "stderr": value.stderr,
        "ci_low": value.ci_low,
        "ci_high": value.ci_high,
        "ci_level": value.ci_level,
        "ci_method": value.ci_method,
        "n": value.n,
        "n_total": counts.n_total,
        "n_error": counts.n_error,
        "n_skipped": counts.n_skipped,
        "n_excluded": counts.n_excluded,
        "bound_low": value.bound_low,
        "bound_high": value.bound_high,
        "reason": value.reason,
    }
    return {name: row[name] for name in METRIC_COLUMNS}


def bare_row(shared: Mapping[str, Any], **columns: Any) -> MetricRow:
    """Return a row of the metrics table that no scorer's metric gives.

    Args:
        shared: the columns that name the specification.
        columns: further ones; the others are null, or 0 where rows are counted.
    """
    counts = {"n_error": 0, "n_skipped": 0, "n_excluded": 0}
    return dict.fromkeys(METRIC_COLUMNS) | dict(shared) | counts | columns


def computed(metric: Metric, key: str, scores: ScoreTable) -> Sequence[MetricValue]:
    """Return a metric's values; one without a number, and why, when it can't be computed."""
    try:
        return metric.compute(scores)
    except MetricError as error:
        name = getattr(metric, "name", None) or key
        return [MetricValue(name, None, 0, reason=f"metric error: {error}")]


def metric_input(table: "pa.Table") -> ScoreTable:
    """Return stored scores as metrics see them: the scored rows that no rule excludes."""
    import pyarrow.compute as pc

    scored = pc.equal(table.column("status"), "ok")
    counted = pc.and_not(scored, table.column("excluded"))
    n_scored = int(pc.sum(scored).as_py() or 0)
    n_skipped = int(pc.sum(pc.equal(table.column("status"), "skipped")).as_py() or 0)
    n = int(pc.sum(counted).as_py() or 0)
    kept = table if n == len(table) else table.filter(counted)
    kinds = field_kinds(table.schema)
    return ScoreTable(
        {score_name(name): kept.column(name) for name in kinds},
        kept.column("metadata") if "metadata" in kept.column_names else None,
        Counts(
            n=n,
            n_error=len(table) - n_scored - n_skipped,
            n_skipped=n_skipped,
            n_excluded=n_scored - n,
        ),
        json_fields=[score_name(name) for name, kind in kinds.items() if kind in ("json", "null")],
        shares=[score_name(name) for name, kind in kinds.items() if kind == "share"],
    )
