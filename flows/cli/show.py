"""`evalmill show`: a run's metrics, or one of its samples."""

import sys
from typing import Annotated

import typer

from flows.cli import options


def show(
    run: Annotated[str, typer.Argument(help="Id or folder of a run; `last` is the newest.")],
    sample: Annotated[
        str | None, typer.Argument(help="Id of a sample.", show_default=False)
    ] = None,
    out: options.Store = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Show a run's metrics, or one sample's conversation, scores and errors.

    Example: evalmill show last 17
    """
    from flows.showing import sample_document, sample_text, show_metrics
    from tasks_lib.jsontext import dumps
    from tasks_lib.results.load import find_run

    stored = find_run(run, options.store_folder(out))
    if sample is None:
        show_metrics(stored, json=json, verbose=verbose)
        return 0
    document = sample_document(stored, sample)
    print(dumps(document) if json else sample_text(document))
    print(f"sample {sample} of run {stored.folder.run_id}", file=sys.stderr)
    return 0
