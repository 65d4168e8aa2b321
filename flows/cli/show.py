"""`evalmill show`: a run's metrics, or one of its samples."""

import sys
from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder

LISTED = 50
"""Rows that are listed unless more are asked for."""


def show(
    run: Annotated[str, typer.Argument(help="Id or folder of a run; `last` is the newest.")],
    sample: Annotated[
        str | None, typer.Argument(help="Id of a sample.", show_default=False)
    ] = None,
    errors: Annotated[
        bool, typer.Option("--errors", help="List the samples that ended in an error.")
    ] = False,
    where: Annotated[
        str | None,
        typer.Option(
            "--where",
            metavar="SCORE=VALUE",
            help="List the samples with this score: is_correct=false.",
        ),
    ] = None,
    limit: options.Most = None,
    out: options.Store = None,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Show a run's metrics, one sample's conversation, scores and errors, or some samples.

    Example: evalmill show last --where is_correct=false
    """
    from flows.cli.settings import pairs
    from flows.terminal.showing import sample_document, sample_text, show_listing, show_metrics
    from tasks_lib.errors import DefinitionError
    from tasks_lib.jsontext import dumps
    from tasks_lib.report.listing import failed_rows, rows_scored
    from tasks_lib.results.load import find_run

    stored = find_run(run, store_folder(out))
    if [sample is not None, errors, where is not None].count(True) > 1:
        raise DefinitionError("SAMPLE, --errors and --where show different things", fix="give one")
    if errors:
        listing = failed_rows(stored, limit or LISTED)
        show_listing(stored, listing, "failed", json=json)
        return 0
    if where is not None:
        ((score, value),) = pairs([where], "--where").items()
        listing = rows_scored(stored, score, value, limit or LISTED)
        show_listing(stored, listing, f"with {where}", json=json)
        return 0
    if sample is None:
        show_metrics(stored, json=json, verbose=verbose)
        return 0
    document = sample_document(stored, sample)
    print(dumps(document) if json else sample_text(document))
    print(f"sample {sample} of run {stored.folder.run_id}", file=sys.stderr)
    return 0
