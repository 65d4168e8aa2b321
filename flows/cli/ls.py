"""`evalmill ls`: list runs."""

import sys

from flows.cli import options


def ls(out: options.Store = None, limit: options.Limit = None, json: options.Json = False) -> int:
    """List the runs of the store, newest first.

    Example: evalmill ls -n 10
    """
    from tasks_lib.jsontext import dumps
    from tasks_lib.results.folder import read_json, run_folders

    store = options.store_folder(out)
    records = [read_json(folder.run_json) for folder in run_folders(store)[:limit]]
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
