"""Opening a run: from a resolved evaluation to a run folder that steps can work in."""

import secrets as tokens
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.plan import Plan, RescoreSource, RunSettings, make_plan
from tasks_lib.preflight import check_prompts
from tasks_lib.rescoring import of_file, of_run
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec, check_dataset_columns
from tasks_lib.resolve.earlier import is_log
from tasks_lib.results import load_run
from tasks_lib.results.folder import (
    RunFolder,
    clear_unfinished,
    read_json,
    remove,
    write_atomically,
    write_json,
)
from tasks_lib.results.result_rows import ResultRows, result_rows
from tasks_lib.results.schemas import SCHEMA_VERSION
from tasks_lib.results.task_result_index import LogIndex
from tasks_lib.results.task_result_rows import LoggedSamples
from tasks_lib.run_record import fingerprints, interrupted_record, started_record
from tasks_lib.runtime import Run, open_run
from tasks_lib.secrets import secret_names
from tasks_lib.sources import NO_ROWS, Rows, align, select
from tasks_lib.spent_before import count_spent
from tasks_lib.verdict import RunStatus


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
    problems: list[DefinitionError] = []
    for spec in evaluation.specs:
        try:
            if spec.log is not None:
                selected[spec.key] = LoggedSamples(LogIndex(spec.log), spec.key)
            elif spec.result_key is not None:
                selected[spec.key] = _result_rows(spec, spec.result_key, store)
            else:
                selected[spec.key] = _spec_rows(spec, opened)
        except DefinitionErrors as error:
            problems += error.problems
        except DefinitionError as error:
            problems.append(error)
    if problems:
        raise DefinitionErrors(problems)
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


@dataclass(frozen=True)
class StoredRun:
    """What an earlier run had settled; a resumed one keeps it.

    Attributes:
        folder: the run's folder.
        document: its `run.json`.
    """

    folder: RunFolder
    document: dict[str, Any]

    @property
    def batches(self) -> dict[str, tuple[tuple[int, int], ...]]:
        """How the samples were cut, by specification."""
        stored = self.document["plan"]["batches"]
        return {key: tuple((a, b) for a, b in cuts) for key, cuts in stored.items()}

    def settings(self, given: RunSettings) -> RunSettings:
        """Return the settings of a resumed run: as given, else as before."""
        before = self.document["plan"]
        return replace(
            given,
            max_connections=given.max_connections or before["max_connections"],
            max_error_rate=given.max_error_rate or before["max_error_rate"],
            fail_under=given.fail_under or before["fail_under"],
            budget_usd=before.get("budget_usd") if given.budget_usd is None else given.budget_usd,
            rescore=self._rescore_source(),
        )

    def _rescore_source(self) -> RescoreSource | None:
        """What is scored again; a run of the same store moves with it."""
        written = self.document["plan"]["rescore"]
        if written is None:
            return None
        return RescoreSource(**{**written, "path": str(self.folder.store / written["path"])})

    def check_same(self, evaluation: ResolvedEvaluation, rows: Mapping[str, Rows]) -> None:
        """Refuse to continue when definitions or data are others than before.

        Raises:
            DefinitionError: they are.
        """
        now = fingerprints(evaluation, rows)
        before: dict[str, str] = self.document["plan"]["fingerprints"]
        changed = [key for key in {**before, **now} if now.get(key) != before.get(key)]
        if changed:
            names = ", ".join(f"'{key}'" for key in changed)
            raise DefinitionError(
                f"definitions or data of {names} have changed since run '{self.folder.run_id}'",
                where="--resume",
                fix="start a new run; what it shares with the old one comes from the ledger",
            )


def stored_run(folder: RunFolder) -> StoredRun:
    """Return what an earlier run had settled.

    Raises:
        DefinitionError: there is no such run, or an evalmill of another kind made it.
        StoreError: what is stored of it can't be read.
    """
    if not folder.run_json.exists():
        raise DefinitionError(
            f"there is no run '{folder.run_id}' in '{folder.store}'",
            fix="list the runs with: evalmill ls",
        )
    document = read_json(folder.run_json)
    version = document.get("schema_version") if isinstance(document, dict) else None
    if version != SCHEMA_VERSION:
        raise DefinitionError(
            f"it has schema version {version!r}, not {SCHEMA_VERSION!r}, and can't be continued",
            where=str(folder.run_json),
            fix="start a new run; what it shares with the old one comes from the ledger",
        )
    return StoredRun(folder, document)


def plan_run(
    evaluation: ResolvedEvaluation, settings: RunSettings, earlier: StoredRun | None = None
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
    if path.is_file():
        evaluation = of_file(evaluation, path, source.num_samples, source.trace_column)
        return evaluation, open_rows(evaluation, settings.store)
    evaluation, stored = of_run(evaluation, load_run(path), source.num_samples)
    others = replace(
        evaluation, specs=tuple(spec for spec in evaluation.specs if spec.key not in stored)
    )
    return evaluation, {**stored, **open_rows(others, settings.store)}


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


def undeclared_secrets(evaluation: ResolvedEvaluation) -> list[str]:
    """Return the names of secrets that models use and no file declares."""
    return list(
        dict.fromkeys(
            name
            for model in evaluation.models.values()
            for name in secret_names(model.config.model_dump_json())
            if name not in evaluation.secrets and name not in (model.secrets or {})
        )
    )


def begin(
    plan: Plan, rows: dict[str, Rows], secrets: Mapping[str, str] = MappingProxyType({})
) -> Run:
    """Open the run, check that its models can be called, and write its first files.

    Args:
        plan: what to do.
        rows: the selected rows of each specification.
        secrets: values of `undeclared_secrets`; they are kept in memory only.

    Raises:
        DefinitionError: the run id is taken, somebody is working on the run, none of the first
            prompts can be made, or a model can't be opened.
        StoreError: the store can't be used.
    """
    folder = RunFolder(plan.run_dir)
    if plan.settings.preflight and not plan.settings.resume:
        check_prompts(plan.evaluation, rows)
    run = open_run(plan, rows, secrets)
    try:
        if plan.settings.resume:
            clear_unfinished(folder)
        elif folder.run_json.exists():
            raise DefinitionError(
                f"there is a run '{plan.run_id}' already",
                where="--run-id",
                fix=f"choose another id, or continue it with --resume {plan.run_id}",
            )
        run.check_models()
        count_spent(run)
        remove(folder.complete)
        if not folder.resolved.exists():
            text = plan.evaluation.to_yaml()
            write_atomically(
                folder.resolved, lambda temporary: temporary.write_text(text, encoding="utf-8")
            )
        write_json(folder.run_json, started_record(run))
    except BaseException:
        run.close()
        with suppress(OSError):
            plan.run_dir.rmdir()  # empty when nothing was begun
        raise
    return run


def end_early(run: Run, status: RunStatus, exit_code: int) -> None:
    """Write down that a run ended before its last step.

    Raises:
        StoreError: it can't be written.
    """
    write_json(run.folder.run_json, interrupted_record(run, status, exit_code))
