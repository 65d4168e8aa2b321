"""Scoring again what was recorded: of our own runs, or of files of traces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tasks_lib.config import did_you_mean
from tasks_lib.errors import DefinitionError, bounded
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec, check_dataset_columns
from tasks_lib.results.load import StoredRun, find_run
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.solvers.pass_through import PassThroughSolver
from tasks_lib.sources import Rows, RowsOfFiles, select
from tasks_lib.sources.choosing import chosen_places
from tasks_lib.system_tasks import SystemTask


def rescore_run(
    evaluation: ResolvedEvaluation, source: StoredRun, num_samples: int | None
) -> tuple[ResolvedEvaluation, dict[str, Rows]]:
    """Return the stored samples for every specification of an evaluation, and it with their trials.

    A specification takes those of the stored one with its key, else of its task, else the
    only one there is. One that looks at no sample by itself takes none: it is run.

    Args:
        evaluation: what to score with.
        source: the run whose samples are scored again.
        num_samples: how many of each; None is all.

    Raises:
        DefinitionError: the run has none that fit.
        StoreError: the run is not complete.
    """
    source.require_complete()
    rows: dict[str, Rows] = {}
    specs = []
    for spec in evaluation.specs:
        if _asks_nothing(spec):
            specs.append(spec)
            continue
        there = _stored_spec(spec, evaluation, source)
        specs.append(replace(spec, num_trials=there["num_trials"], num_runs=there["num_runs"]))
        folder = source.folder.samples(there["key"])
        stored = StoredSamples(folder, spec.key)
        if num_samples is not None and num_samples < len(stored):
            places = chosen_places(len(stored), num_samples, spec.subsampling)
            stored = StoredSamples(folder, spec.key, places)
        rows[spec.key] = stored
    return replace(evaluation, specs=tuple(specs)), rows


def _asks_nothing(spec: ResolvedSpec) -> bool:
    """Whether no recorded sample is looked at: whole datasets, or nothing at all, is."""
    system = isinstance(spec.task.definition, SystemTask)
    return system or (spec.side_by_side is not None and spec.scored_whole)


def _stored_spec(
    spec: ResolvedSpec, evaluation: ResolvedEvaluation, source: StoredRun
) -> Mapping[str, Any]:
    stored: Sequence[Mapping[str, Any]] = source.record["specs"]
    for same in ("key", "task_key"):
        wanted = spec.key if same == "key" else spec.task.key
        found = [there for there in stored if there[same] == wanted]
        if len(found) == 1:
            return found[0]
    if len(stored) == len(evaluation.specs) == 1:
        return stored[0]
    raise DefinitionError(
        f"run '{source.folder.run_id}' has no samples for specification '{spec.key}'",
        fix=f"its specifications: {', '.join(there['key'] for there in stored)}",
    )


def find_traces(source: str, store: Path) -> Path:
    """Return the absolute path of what is scored again: a run's folder, or a file or folder.

    Args:
        source: a file, a run's id or folder, `last`, or a folder of files, in this order.
        store: where runs are.

    Raises:
        DefinitionError: it is none of them.
    """
    path = Path(source)
    if path.is_file():
        return path.absolute()
    try:
        return find_run(source, store).folder.path.absolute()
    except DefinitionError:
        if path.is_dir():
            return path.absolute()
        raise


def rescore_traces(
    evaluation: ResolvedEvaluation, path: Path, num_samples: int | None, trace_column: str
) -> tuple[ResolvedEvaluation, dict[str, Rows]]:
    """Return the rows of files of traces for every specification, and it as it replays them.

    One that looks at no sample by itself takes none: it is run.

    Args:
        evaluation: what to score with.
        path: a Parquet or JSONL file with one trace a row, the other columns being the sample;
            or a folder of such, read in the order of their names. What else is in it is left
            out, and a warning of the evaluation says so.
        num_samples: how many; None is all.
        trace_column: the column that holds the traces.

    Raises:
        DefinitionError: there are none, or no such column, or a specification reads several
            datasets.
        DefinitionErrors: what is wrong with the files, naming file and line.
    """
    there = [path] if path.is_file() else sorted(found for found in path.iterdir() if _shows(found))
    files = [file for file in there if file.suffix.lower() in (".parquet", ".jsonl")]
    if not files:
        raise DefinitionError(
            f"'{path}' holds no traces",
            fix="name a run, or Parquet or JSONL files with a column of traces, one or a folder",
        )
    warnings = list(evaluation.warnings)
    if others := [file.name for file in there if file not in files]:
        warnings.append(f"no Parquet or JSONL, and so left out: {bounded(', '.join(others))}")
    all_rows = RowsOfFiles(files)
    if trace_column not in all_rows.columns:
        columns = all_rows.columns
        raise DefinitionError(
            f"'{path}' has no column '{trace_column}' of traces",
            where="--trace-column",
            fix=did_you_mean(trace_column, columns) or f"columns: {bounded(', '.join(columns))}",
        )
    solver = PassThroughSolver(type="pass_through_solver", trace_column=trace_column)
    rows: dict[str, Rows] = {}
    specs = []
    for spec in evaluation.specs:
        if _asks_nothing(spec):
            specs.append(replace(spec, num_samples=num_samples))
            continue
        if spec.side_by_side:
            raise DefinitionError(
                f"specification '{spec.key}' reads several datasets side by side, "
                f"and '{path.name}' is one",
                fix="score a run of it again, or write a task with one dataset",
            )
        check_dataset_columns(spec, all_rows.columns)
        rows[spec.key] = select(all_rows, num_samples, spec.subsampling)
        definition = spec.task.definition.model_copy(update={"solver": solver})
        specs.append(
            replace(
                spec,
                task=spec.task.model_copy(update={"definition": definition}),
                model_key=None,
                num_samples=num_samples,
                num_trials=1,
                num_runs=1,
            )
        )
    replayed = replace(
        evaluation, specs=tuple(specs), warnings=tuple(warnings), as_written=evaluation
    )
    return replayed, rows


def _shows(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".")
