"""Planning a run: the datasets' indexes are read, and what will be done is settled."""

import secrets as tokens
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from tasks_lib.plan import Plan, RunSettings, make_plan
from tasks_lib.plan.preflight import null_warnings
from tasks_lib.plan.previous_run import PreviousRun
from tasks_lib.plan.rescore import rescore_run, rescore_traces
from tasks_lib.plan.rows import open_rows
from tasks_lib.resolve import ResolvedEvaluation
from tasks_lib.results import load_run
from tasks_lib.results.earlier_results import ResultRows
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.sources import Rows


def plan_run(
    evaluation: ResolvedEvaluation, settings: RunSettings, earlier: PreviousRun | None = None
) -> tuple[Plan, dict[str, Rows]]:
    """Read the datasets' indexes and settle what a run will do.

    Args:
        evaluation: what to evaluate.
        settings: how.
        earlier: the run that is continued.

    Raises:
        DefinitionError: the data is wrong, there is none, or it is not the earlier run's.
    """
    evaluation, rows = _rows_of(evaluation, settings)
    warnings = (*evaluation.warnings, *null_warnings(evaluation, rows))
    evaluation = replace(evaluation, warnings=warnings)
    now = datetime.now(UTC)
    if earlier is not None:
        earlier.check_same(evaluation, rows)
    cuts = earlier.batches if earlier else None
    return make_plan(evaluation, rows, settings, now, tokens.token_hex(3), cuts), rows


def _rows_of(
    evaluation: ResolvedEvaluation, settings: RunSettings
) -> tuple[ResolvedEvaluation, dict[str, Rows]]:
    """Return the rows to evaluate, and the evaluation as it then is."""
    source = settings.rescore
    if source is None:
        rows = open_rows(evaluation, settings.store)
        return _as_loaded(evaluation, rows), rows
    # recorded conversations are scored: neither a model nor a log answers
    unlogged = tuple(replace(spec, log=None) for spec in evaluation.specs)
    evaluation = replace(evaluation, specs=unlogged)
    path = Path(source.path)
    if path.exists() and not RunFolder(path).run_json.exists():
        number, column = source.num_samples, source.trace_column
        evaluation, recorded = rescore_traces(evaluation, path, number, column)
    else:
        evaluation, recorded = rescore_run(evaluation, load_run(path), source.num_samples)
    others = replace(
        evaluation, specs=tuple(spec for spec in evaluation.specs if spec.key not in recorded)
    )
    return evaluation, {**recorded, **open_rows(others, settings.store)}


def _as_loaded(evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> ResolvedEvaluation:
    """Return an evaluation with the trials of the logs it loads, and what was left out."""
    specs, warnings = [], list(evaluation.warnings)
    for spec in evaluation.specs:
        found = rows[spec.key]
        if isinstance(found, LoggedSamples):
            log = found.log
            spec = replace(spec, num_trials=log.num_trials, num_runs=log.num_runs)
        elif isinstance(found, ResultRows) and found.left_out:
            failed = "1 row" if found.left_out == 1 else f"{found.left_out} rows"
            warnings.append(
                f"{spec.key}: {failed} of result '{spec.result_key}' failed there, left out here"
            )
        specs.append(spec)
    return replace(evaluation, specs=tuple(specs), warnings=tuple(warnings))
