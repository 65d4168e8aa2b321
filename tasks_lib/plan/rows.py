"""The rows that every specification of an evaluation works on."""

from pathlib import Path

from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec, check_dataset_columns
from tasks_lib.resolve.earlier_results import is_log
from tasks_lib.resolve.parts import Problems
from tasks_lib.results.earlier_results import result_rows
from tasks_lib.results.task_result.index import LogIndex
from tasks_lib.results.task_result.logged_samples import LoggedSamples
from tasks_lib.sources import NO_ROWS, Rows, align, select


def open_rows(evaluation: ResolvedEvaluation, store: Path | None = None) -> dict[str, Rows]:
    """Return the selected rows of every specification, by its key.

    Specifications that read the same dataset the same way share one index of it. What is
    taken over from a log is taken whole.

    Args:
        evaluation: what to evaluate.
        store: where earlier runs are whose results are read; None looks at none of them.

    Raises:
        DefinitionErrors: all that is wrong with the data of all specifications.
    """
    opened: dict[object, Rows] = {}
    selected: dict[str, Rows] = {}
    problems = Problems()
    for spec in evaluation.specs:
        with problems.noted():
            if spec.log is not None:
                selected[spec.key] = LoggedSamples(LogIndex(spec.log), spec.key)
            elif spec.result_key is not None:
                selected[spec.key] = _result_rows(spec, spec.result_key, store)
            else:
                selected[spec.key] = _spec_rows(spec, opened)
    problems.raise_any()
    return selected


def _spec_rows(spec: ResolvedSpec, opened: dict[object, Rows]) -> Rows:
    named: dict[str, Rows] = {}
    for name, dataset in spec.datasets.items():
        identity = dataset.source.model_dump_json()
        if identity not in opened:
            opened[identity] = dataset.source.open(Path(dataset.source.file_path))
        named[name] = opened[identity]
    check_dataset_columns(spec, {column for rows in named.values() for column in rows.columns})
    if not named:
        return NO_ROWS
    if spec.scored_whole and spec.side_by_side:
        return align({name: _selected(spec, rows) for name, rows in named.items()}, uneven=True)
    return _selected(spec, align(named) if spec.side_by_side else named["dataset"])


def _result_rows(spec: ResolvedSpec, key: str, store: Path | None) -> Rows:
    if store is None and not is_log(key):
        return NO_ROWS  # the run may be still to come
    rows = result_rows(key, store or Path())
    check_dataset_columns(spec, rows.columns)
    return rows.chosen(spec.num_samples, spec.subsampling)


def _selected(spec: ResolvedSpec, rows: Rows) -> Rows:
    return select(rows, spec.num_samples, spec.subsampling)
