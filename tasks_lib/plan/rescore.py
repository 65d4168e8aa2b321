"""Scoring again what was recorded: of our own runs, or of files of traces."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.definitions.dataset import Dataset
from tasks_lib.errors import DefinitionError
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec
from tasks_lib.results.load import StoredRun
from tasks_lib.results.stored_samples import StoredSamples
from tasks_lib.solvers.pass_through import PassThroughSolver
from tasks_lib.sources import LocalSource, Rows
from tasks_lib.sources.base import chosen_places
from tasks_lib.system_tasks import SystemTask

if TYPE_CHECKING:
    pass


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


def rescore_file(
    evaluation: ResolvedEvaluation, file: Path, num_samples: int | None, trace_column: str
) -> ResolvedEvaluation:
    """Return the evaluation with recorded traces of a file in place of its data and solver.

    Args:
        evaluation: what to score with.
        file: a Parquet or JSONL file with one trace a row; the other columns are the sample.
        num_samples: how many; None is all.
        trace_column: the column that holds the traces.

    Raises:
        DefinitionError: the file is of another form, or no specification's samples are.
    """
    if file.suffix.lower() not in (".parquet", ".jsonl"):
        raise DefinitionError(
            f"'{file}' holds no traces",
            fix="name a run, or a Parquet or JSONL file with a column of traces",
        )
    dataset = Dataset(
        key="traces",
        display_name=file.name,
        source=LocalSource(file_path=str(file.absolute())),
    )
    solver = PassThroughSolver(type="pass_through_solver", trace_column=trace_column)
    specs = []
    for spec in evaluation.specs:
        if _asks_nothing(spec):
            specs.append(replace(spec, num_samples=num_samples))
            continue
        if spec.side_by_side:
            raise DefinitionError(
                f"specification '{spec.key}' reads several datasets side by side, "
                f"and '{file.name}' is one",
                fix="score a run of it again, or write a task with one dataset",
            )
        definition = spec.task.definition.model_copy(update={"solver": solver})
        task = spec.task.model_copy(update={"definition": definition})
        specs.append(
            replace(
                spec,
                task=task,
                datasets={"dataset": dataset},
                model_key=None,
                num_samples=num_samples,
                num_trials=1,
                num_runs=1,
            )
        )
    return replace(evaluation, specs=tuple(specs))
