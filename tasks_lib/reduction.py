"""The last step: scores become metrics, and the run gets its verdict."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.errors import MetricError
from tasks_lib.evidence import read_evidence
from tasks_lib.jsontext import loads
from tasks_lib.metrics import Metric
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.table import Counts, ScoreTable
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.folder import parts, write_atomically, write_json
from tasks_lib.results.parts import field_kinds, read_table, score_name, write_table
from tasks_lib.results.schemas import METRIC_COLUMNS, metric_schema
from tasks_lib.run_record import finished_record
from tasks_lib.runtime import Run, StepResult
from tasks_lib.scorers import Scorer
from tasks_lib.scorers.answers import no_answer
from tasks_lib.system_tasks import SystemTask
from tasks_lib.trace import SolverTrace, Trace
from tasks_lib.verdict import SpecOutcome, Verdict, judge_run

if TYPE_CHECKING:
    import pyarrow as pa


def reduce_run(run: Run) -> StepResult:
    """Write `metrics.parquet`, the final `run.json` and the marker `complete`.

    Returns:
        `{"metrics", "status", "exit_code", "warnings"}`.
    """
    metrics: list[dict[str, Any]] = []
    outcomes: list[SpecOutcome] = []
    for spec in run.plan.evaluation.specs:
        shared = {
            "spec_key": spec.key,
            "task_key": spec.task.key,
            "model_key": spec.model_key,
        }
        if isinstance(spec.task.definition, SystemTask):
            rows, outcome = _system_metrics(run, spec.key, shared)
        else:
            rows, outcome = _sample_metrics(run, spec, shared)
        metrics += rows
        outcomes.append(outcome)
    verdict = judge_run(outcomes, metrics, run.plan.settings)
    _finish(run, metrics, outcomes, verdict)
    return {
        "metrics": metrics,
        "status": verdict.status,
        "exit_code": verdict.exit_code,
        "warnings": run.warnings,
    }


def _sample_metrics(
    run: Run, spec: ResolvedSpec, shared: dict[str, Any]
) -> tuple[list[dict[str, Any]], SpecOutcome]:
    """The metric rows of a benchmark task, and how its rows ended."""
    scorers = run.scorers(spec.key)
    tables = {key: _scores(run.folder.scores(spec.key, key)) for key in scorers}
    rows: list[dict[str, Any]] = []
    for key, scorer in scorers.items():
        rows += _metric_rows(shared, key, scorer, _counting_rows(spec, tables[key]))
    samples = _samples(run.folder.samples(spec.key))
    run.warnings += _reply_warnings(spec.key, samples)
    outcome = _outcome(spec, samples, tables)
    if spec.task.definition.actions:
        rows.append(_exclusions(shared, outcome))
    return rows, outcome


def _counting_rows(spec: ResolvedSpec, table: "pa.Table") -> "pa.Table":
    """The rows that metrics are made of: with trials, the aggregates alone."""
    import pyarrow.compute as pc

    return table.filter(pc.is_null(table.column("trial"))) if spec.num_trials > 1 else table


def _trial_rows(spec: ResolvedSpec, table: "pa.Table") -> "pa.Table":
    """The rows that stand for one trial each, in the order of the samples table."""
    import pyarrow.compute as pc

    return table.filter(pc.is_valid(table.column("trial"))) if spec.num_trials > 1 else table


def _exclusions(shared: dict[str, Any], outcome: SpecOutcome) -> dict[str, Any]:
    row = dict.fromkeys(METRIC_COLUMNS) | shared
    return row | {
        "scorer_key": "actions",
        "purpose": "qa",
        "metric_key": "actions",
        "metric_type": "actions",
        "name": "num_excluded_from_metrics",
        "value": float(outcome.n_excluded),
        "n": outcome.n_rows,
        "n_total": outcome.n_rows,
        "n_error": outcome.n_error,
        "n_skipped": 0,
        "n_excluded": outcome.n_excluded,
    }


def _system_metrics(
    run: Run, spec_key: str, shared: dict[str, Any]
) -> tuple[list[dict[str, Any]], SpecOutcome]:
    """The metric rows of a system task; one row of its own stands for success or failure."""
    metrics, error = read_evidence(run.folder, spec_key)
    if error is not None:
        run.warnings.append(f"{spec_key}: {error}")
    rows = [
        dict.fromkeys(METRIC_COLUMNS)
        | shared
        | {
            "scorer_key": "",
            "purpose": "score",
            "metric_key": name,
            "metric_type": "system_task",
            "name": name,
            "value": metric["value"],
            "n": 1,
            "n_total": 1,
            "n_error": 0,
            "n_skipped": 0,
            "n_excluded": 0,
            "reason": metric["reason"],
        }
        for name, metric in metrics.items()
    ]
    failed = int(error is not None)
    return rows, SpecOutcome(spec_key, 1, failed, failed, 0, 0, 0, 0, 0)


def _finish(
    run: Run, metrics: list[dict[str, Any]], outcomes: list[SpecOutcome], verdict: Verdict
) -> None:
    import pyarrow as pa

    run.warnings += verdict.words
    table = pa.Table.from_pylist(metrics, schema=metric_schema())
    write_table(run.folder.metrics, table)
    write_json(run.folder.run_json, finished_record(run, outcomes, verdict))
    write_atomically(run.folder.complete, lambda temporary: temporary.write_bytes(b""))


def _scores(folder: Path) -> "pa.Table":
    import pyarrow as pa

    tables = [read_table(path) for path in parts(folder)]
    return pa.concat_tables(tables)


def _samples(folder: Path) -> "pa.Table":
    """The columns of a specification's samples that say how they went, texts apart."""
    import pyarrow as pa

    columns = [
        "status",
        "finish_reason",
        "output_text",
        "calls",
        "ledger_hits",
        "input_tokens",
        "output_tokens",
    ]
    tables = []
    for path in parts(folder):
        table = read_table(path, columns)
        silent = _silent(table)
        if silent.any():
            table = table.append_column("no_answer", _reasons(path, silent))
        else:
            table = table.append_column("no_answer", pa.nulls(len(table), pa.string()))
        tables.append(table.drop_columns(["output_text"]))
    return pa.concat_tables(tables)


def _silent(table: "pa.Table") -> Any:
    """Which rows were solved and show no text; a numpy mask."""
    import pyarrow.compute as pc

    text = pc.fill_null(table.column("output_text"), "")
    blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0)
    called = pc.greater(table.column("calls"), 0)
    solved = pc.equal(table.column("status"), "ok")
    return pc.and_(pc.and_(blank, solved), called).to_numpy()


def _reasons(path: Path, silent: Any) -> "pa.Array":
    import pyarrow as pa

    outputs = read_table(path, ["raw_outputs"]).column("raw_outputs").to_pylist()
    reasons = [
        no_answer(SolverTrace(Trace.from_items([]), loads(text))) if mute else None
        for text, mute in zip(outputs, silent, strict=True)
    ]
    return pa.array(reasons, pa.string())


def _outcome(
    spec: ResolvedSpec, samples: "pa.Table", scores: Mapping[str, "pa.Table"]
) -> SpecOutcome:
    import numpy as np
    import pyarrow.compute as pc

    failed = pc.not_equal(samples.column("status"), "ok").to_numpy()
    n_solver_errors = int(failed.sum())
    counting = [_counting_rows(spec, table) for table in scores.values()]
    for table in scores.values():
        rows = _trial_rows(spec, table)
        failed = failed | pc.not_equal(rows.column("status"), "ok").to_numpy()
    excluded = np.zeros(len(counting[0]) if counting else 0, dtype=bool)
    for table in counting:
        excluded = excluded | table.column("excluded").to_numpy()
    total = {
        name: int(pc.sum(samples.column(name)).as_py() or 0)
        for name in ("calls", "ledger_hits", "input_tokens", "output_tokens")
    }
    return SpecOutcome(
        key=spec.key,
        n_rows=len(failed),
        n_error=int(failed.sum()),
        n_solver_errors=n_solver_errors,
        n_excluded=int(excluded.sum()),
        **total,
    )


def _reply_warnings(spec_key: str, samples: "pa.Table") -> list[str]:
    """What a reader must know of the replies before believing the metrics."""
    import pyarrow.compute as pc

    called = int(pc.sum(pc.greater(samples.column("calls"), 0)).as_py() or 0)
    cut = int(pc.sum(pc.equal(samples.column("finish_reason"), "length")).as_py() or 0)
    warnings = []
    if cut:
        warnings.append(
            f"{spec_key}: {cut} of {called} replies truncated at the token limit; "
            "they are scored as they are"
        )
    counted = pc.value_counts(samples.column("no_answer").combine_chunks().drop_null())
    reasons = {entry["values"]: entry["counts"] for entry in counted.to_pylist()}
    if reasons:
        words = ", ".join(f"{n} {_REASON_WORDS[reason]}" for reason, n in sorted(reasons.items()))
        silent = sum(reasons.values())
        loud = "MOST REPLIES SHOW NO ANSWER: " if silent * 2 > called else ""
        warnings.append(
            f"{spec_key}: {loud}{silent} of {called} replies show no answer ({words})"
        )
    return warnings


_REASON_WORDS = {
    "empty": "empty",
    "refusal": "refused",
    "truncated": "truncated with no answer",
    "reasoning_only": "with reasoning only",
}


def _metric_rows(
    shared: dict[str, Any], scorer_key: str, scorer: Scorer, table: "pa.Table"
) -> list[dict[str, Any]]:
    scores = _score_table(table)
    counts = scores.counts
    rows = []
    for metric_key, metric in scorer.keyed_metrics().items():
        for value in _computed(metric, metric_key, scores):
            row = {
                **shared,
                "scorer_key": scorer_key,
                "purpose": scorer.purpose,
                "metric_key": metric_key,
                "metric_type": metric.type,
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
            rows.append({name: row[name] for name in METRIC_COLUMNS})
    return rows


def _computed(metric: Metric, key: str, scores: ScoreTable) -> Sequence[MetricValue]:
    try:
        return metric.compute(scores)
    except MetricError as error:
        name = getattr(metric, "name", None) or key
        return [MetricValue(name, None, 0, reason=f"metric error: {error}")]


def _score_table(table: "pa.Table") -> ScoreTable:
    import pyarrow.compute as pc

    scored = pc.equal(table.column("status"), "ok")
    counted = pc.and_not(scored, table.column("excluded"))
    n_scored = int(pc.sum(scored).as_py() or 0)
    n = int(pc.sum(counted).as_py() or 0)
    kept = table.filter(counted)
    kinds = field_kinds(table.schema)
    return ScoreTable(
        {score_name(name): kept.column(name) for name in kinds},
        kept.column("metadata"),
        Counts(n=n, n_error=len(table) - n_scored, n_excluded=n_scored - n),
        json_fields=[score_name(name) for name, kind in kinds.items() if kind in ("json", "null")],
        shares=[score_name(name) for name, kind in kinds.items() if kind == "share"],
    )
