"""The last step: scores become metrics, and the run gets its verdict."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.files import write_text
from tasks_lib.results.metric_rows import MetricRow, bare_row, metric_rows
from tasks_lib.results.parquet import write_table
from tasks_lib.results.schemas import metric_schema
from tasks_lib.results.scores import read_scores
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.runs.record import write_record
from tasks_lib.runs.run import Run, StepResult, find_open_run
from tasks_lib.runs.verdict import SpecOutcome, Verdict, judge_run
from tasks_lib.scorers import Scorer
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.steps.repeatability import repeated_rows
from tasks_lib.steps.sample_totals import read_totals, reply_warnings
from tasks_lib.steps.spec_outcome import counting_rows, spec_outcome
from tasks_lib.steps.system_task import system_metrics
from tasks_lib.steps.task_result import logged_metrics
from tasks_lib.system_tasks import SystemTask

if TYPE_CHECKING:
    import pyarrow as pa


def reduce(run_dir: str) -> StepResult:
    """Aggregate every scorer's metrics, write the metrics table and finish the run.

    Writes `metrics.parquet`, the final `run.json` and the marker `complete`. A run that the
    budget stopped has metrics of what was scored, and is not complete.

    Returns:
        `{"metrics", "status", "exit_code", "warnings"}`: the rows of the metrics table, and
        how the run ended.

    Raises:
        StoreError: the table can't be written.
    """
    run = find_open_run(run_dir)
    return run.once(("reduce",), lambda: _reduce(run))


def _reduce(run: Run) -> StepResult:
    import pyarrow as pa

    pa.default_memory_pool().release_unused()  # what the batches needed
    metrics: list[MetricRow] = []
    outcomes: list[SpecOutcome] = []
    for spec in run.plan.evaluation.specs:
        shared = {
            "spec_key": spec.key,
            "task_key": spec.task.key,
            "model_key": spec.model_key,
        }
        loaded = run.rows[spec.key]
        if isinstance(loaded, LoggedSamples):
            rows, outcome = logged_metrics(run, spec, loaded, shared)
        elif isinstance(spec.task.definition, SystemTask):
            rows, outcome = system_metrics(run, spec.key, shared)
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
) -> tuple[list[MetricRow], SpecOutcome]:
    """The metric rows of a benchmark task, and how its rows ended."""
    scorers = spec.scorers
    tables = {
        key: read_scores(run.folder.scores(spec.key, key), _unread(spec, scorer))
        for key, scorer in scorers.items()
    }
    counting = {key: counting_rows(spec, table) for key, table in tables.items()}
    rows: list[MetricRow] = []
    for key, scorer in scorers.items():
        if spec.num_runs == 1:
            rows += metric_rows(shared, key, scorer, counting[key])
        else:
            rows += repeated_rows(shared, key, scorer, counting[key], spec.num_runs)
    samples = read_totals(run.folder.samples(spec.key))
    run.warn(*reply_warnings(spec.key, samples))
    if spec.task.definition.actions:
        rows.append(_exclusions(shared, counting))
    return rows, spec_outcome(spec, samples, tables)


def _unread(spec: ResolvedSpec, scorer: Scorer) -> set[str]:
    """The columns that no metric of a scorer looks at, the largest of all among them."""
    places = {"sample_index", "trial", "row"} if spec.repeats == 1 else set()
    looks = any(metric.reads_metadata for metric in scorer.keyed_metrics().values())
    unread = {*places, "sample_id", "error_class", "error_message", "action_rules"}
    return unread if looks or isinstance(scorer, ModelScorer) else unread | {"metadata"}


def _exclusions(shared: dict[str, Any], counting: Mapping[str, "pa.Table"]) -> MetricRow:
    """How many rows the rules leave out; a row that failed may be among them."""
    import numpy as np
    import pyarrow.compute as pc

    tables = counting.values()
    n_rows = max(map(len, tables), default=0)
    excluded = np.logical_or.reduce([table.column("excluded").to_numpy() for table in tables])
    failed, skipped = (
        np.logical_or.reduce([pc.equal(table.column("status"), end).to_numpy() for table in tables])
        for end in ("error", "skipped")
    )
    return bare_row(
        shared,
        scorer_key="actions",
        purpose="qa",
        metric_key="actions",
        metric_type="actions",
        name="num_excluded_from_metrics",
        value=float(excluded.sum()),
        n=n_rows,
        n_total=n_rows,
        n_error=int(failed.sum()),
        n_skipped=int((skipped & ~failed).sum()),
        n_excluded=int(excluded.sum()),
    )


def _finish(
    run: Run, metrics: list[MetricRow], outcomes: list[SpecOutcome], verdict: Verdict
) -> None:
    import pyarrow as pa

    run.warn(*verdict.words)
    table = pa.Table.from_pylist(metrics, schema=metric_schema())
    write_table(run.folder.metrics, table)
    write_record(run, verdict.status, verdict.exit_code, outcomes)
    if verdict.status == "interrupted":
        return
    write_text(run.folder.complete, "")
