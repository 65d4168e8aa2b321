"""`evalmill ls`: list runs."""

import sys
from typing import TYPE_CHECKING, Any

from flows.cli import options
from flows.store import store_folder

if TYPE_CHECKING:
    from tasks_lib.results.folder import RunFolder


def ls(out: options.Store = None, limit: options.Most = None, json: options.Json = False) -> int:
    """List the runs of the store, newest first.

    Example: evalmill ls -n 10
    """
    from tasks_lib.errors import StoreError
    from tasks_lib.jsontext import dumps
    from tasks_lib.results.folder import run_folders

    store = store_folder(out)
    records = []
    for folder in run_folders(store)[:limit]:
        try:
            records.append(_record(folder))
        except StoreError as error:
            print(f"warning: {error}", file=sys.stderr)
    if json:
        print(dumps(records))
        return 0
    from rich.console import Console

    from tasks_lib.report.tables import runs_table

    if records:
        Console(width=None if sys.stdout.isatty() else 160).print(runs_table(records))
    else:
        print(f"no runs in {store}")
    return 0


def _record(folder: "RunFolder") -> dict[str, Any]:
    """A run's record; one that was killed could not say itself that it is interrupted."""
    from tasks_lib.results.folder import read_record
    from tasks_lib.results.lock import is_worked_on

    record = read_record(folder)
    if record["status"] == "running" and not is_worked_on(folder):
        record["status"] = "interrupted"
    return record
