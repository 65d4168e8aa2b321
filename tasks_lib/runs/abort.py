"""Ending a run whose model gives no usable reply, so that it can be resumed as if unbroken."""

from collections.abc import Collection
from pathlib import Path

from tasks_lib import exit_codes
from tasks_lib.errors import CircuitError, StoreError
from tasks_lib.results.folder import parts
from tasks_lib.results.parquet import read_table
from tasks_lib.runs.record import write_record
from tasks_lib.runs.run import Run


def abort_run(run: Run, cause: CircuitError) -> None:
    """Write down that a run was stopped, and why.

    Parts with rows that failed because of the model are withdrawn: a resumed run asks for
    them again, and what was paid for in them comes from the ledger. What failed is told by
    `stopped` in `run.json`.

    Raises:
        StoreError: it can't be written.
    """
    try:
        for spec in run.plan.specs:
            _withdraw(run, spec.key, cause.model)
    except OSError as error:
        raise StoreError(f"can't be changed: {error.strerror}", str(run.folder.path)) from None
    run.warn(str(cause))
    write_record(run, "failed", exit_codes.TOO_MANY_ERRORS)


def _withdraw(run: Run, spec_key: str, model_key: str) -> None:
    scores = [run.folder.scores(spec_key, key) for key in run.spec(spec_key).scorers]
    unsolved = _failed_parts(run.folder.samples(spec_key), model_key)
    for folder in scores:
        _remove(folder, {*unsolved, *_failed_parts(folder, model_key)})
    _remove(run.folder.samples(spec_key), unsolved)


def _failed_parts(folder: Path, model_key: str) -> set[str]:
    """The names of parts with rows that the model's failures are the reason of."""
    import pyarrow.compute as pc

    names = set()
    for path in parts(folder):
        messages = read_table(path, ["error_message"]).column("error_message")
        blamed = pc.starts_with(messages, f"model '{model_key}': ")
        if pc.any(blamed, min_count=0).as_py():
            names.add(path.name)
    return names


def _remove(folder: Path, names: Collection[str]) -> None:
    for name in names:
        (folder / name).unlink(missing_ok=True)
