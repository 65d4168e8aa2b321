"""`evalmill ledger`: the record of model calls."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder

ledger = typer.Typer()


@ledger.callback()
def _ledger() -> None:
    """Work with the record of model calls.

    Example: evalmill ledger export last replies.jsonl
    """


@ledger.command()
def export(
    run: Annotated[
        str, typer.Argument(help="Id of the run whose replies are exported; `last` is the newest.")
    ],
    file: Annotated[Path, typer.Argument(help="JSONL file to write.")],
    out: options.Store = None,
    json: options.Json = False,
) -> int:
    """Write the replies a run recorded to a file that a `replay` connection answers from.

    Example: evalmill ledger export last replies.jsonl
    """
    from tasks_lib.errors import DefinitionError
    from tasks_lib.jsontext import dumps
    from tasks_lib.models.ledger import entries
    from tasks_lib.models.ledger.recording import write_recording
    from tasks_lib.results.load import run_named

    store = store_folder(out)
    run = run_named(run, store)
    recorded = entries(store, run)
    first = next(recorded, None)
    if first is None:
        raise DefinitionError(
            f"run '{run}' has recorded no replies in '{store}'",
            fix="name the run that asked for them; evalmill ls lists the runs",
        )
    count = write_recording(chain([first], recorded), file)
    if json:
        print(dumps({"run_id": run, "replies": count, "file": str(file)}))
    print(f"{count} replies written to {file}", file=sys.stderr)
    return 0


@ledger.command()
def repair(out: options.Store = None, json: options.Json = False) -> int:
    """Save the replies that can still be read of a damaged ledger.

    The damaged file is kept beside the new one. What it has lost is asked for again when it is
    needed.

    Example: evalmill ledger repair -o .evalmill
    """
    from tasks_lib.errors import DefinitionError
    from tasks_lib.jsontext import dumps
    from tasks_lib.models.ledger.repair import repair as repair_ledger
    from tasks_lib.results.folder import run_folders
    from tasks_lib.results.lock import is_worked_on

    store = store_folder(out)
    busy = [folder.run_id for folder in run_folders(store) if is_worked_on(folder)]
    if busy:
        raise DefinitionError(
            f"the store is in use: {', '.join(busy)}", fix="wait for the end of these runs"
        )
    repaired = repair_ledger(store)
    if json:
        print(dumps({"replies": repaired.kept, "damaged": str(repaired.aside)}))
    print(f"{repaired.kept} replies saved; the damaged ledger is {repaired.aside}", file=sys.stderr)
    return 0
