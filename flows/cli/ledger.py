"""`evalmill ledger`: the record of model calls."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options

ledger = typer.Typer(no_args_is_help=True)


@ledger.callback()
def _ledger() -> None:
    """Work with the record of model calls.

    Example: evalmill ledger export 20260101T000000Z-capitals-0a1b2c recording.jsonl
    """


@ledger.command()
def export(
    run: Annotated[str, typer.Argument(help="Id of the run whose replies are exported.")],
    file: Annotated[Path, typer.Argument(help="JSONL file to write.")],
    out: options.Store = None,
) -> int:
    """Write the replies a run recorded to a file that a `replay` connection answers from.

    Example: evalmill ledger export 20260101T000000Z-capitals-0a1b2c recording.jsonl
    """
    from tasks_lib.errors import DefinitionError
    from tasks_lib.models.ledger import entries
    from tasks_lib.models.recording import write_recording

    store = options.store_folder(out)
    recorded = entries(store, run)
    first = next(recorded, None)
    if first is None:
        raise DefinitionError(
            f"run '{run}' has recorded no replies in '{store}'",
            fix="name the run that asked for them; evalmill ls lists the runs",
        )
    count = write_recording(chain([first], recorded), file)
    print(f"{count} replies written to {file}", file=sys.stderr)
    return 0
