"""`evalmill rescore`: score stored traces again."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder


def rescore(
    source: Annotated[
        str | None,
        typer.Argument(
            help="A run's id or folder, `last`, or a Parquet or JSONL file with a trace column, or "
            "a folder of such files; left out to continue a run.",
            show_default=False,
        ),
    ] = None,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A run file, an evaluation file or a task file; left out to continue a run.",
            show_default=False,
        ),
    ] = None,
    trace_column: Annotated[
        str, typer.Option("--trace-column", metavar="NAME", help="Column of a file of traces.")
    ] = "trace",
    settings: options.Settings = None,
    limit: options.Limit = None,
    subsampling: options.Subsampling = None,
    out: options.Store = None,
    run_id: options.RunId = None,
    resume: options.Resume = None,
    retry_errors: options.RetryErrors = None,
    cache: options.Cache = None,
    max_connections: options.Connections = None,
    batch_size: options.BatchSize = None,
    no_prefect: options.NoPrefect = False,
    no_preflight: options.NoPreflight = False,
    max_error_rate: options.MaxErrorRate = 0.0,
    fail_under: options.FailUnder = None,
    budget_usd: options.Budget = None,
    prices: options.Prices = None,
    env: options.EnvFile = None,
    allow_outside: options.AllowOutside = False,
    no_progress: options.NoProgress = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Score stored traces with the scorers of FILE, without calling the evaluated model.

    Example: evalmill rescore last deployments/quickstart.yaml
    """
    from flows.cli.settings import continued_run, gates, overrides
    from flows.terminal.execute import Manner, execute, prepare
    from tasks_lib.errors import DefinitionError
    from tasks_lib.plan import RescoreSource, RunSettings
    from tasks_lib.plan.rescore import find_traces

    store = store_folder(out)
    earlier = continued_run(resume, retry_errors, run_id, store)
    if earlier is None and (source is None or file is None):
        raise DefinitionError("SOURCE or FILE is missing", fix="see: evalmill rescore --help")
    if earlier is not None and source is not None:
        raise DefinitionError(
            "a run that is continued knows what it scores", fix="leave SOURCE and FILE out"
        )
    traces = (
        None
        if source is None
        else RescoreSource(str(find_traces(source, store)), trace_column, limit)
    )
    prepared = prepare(
        file,
        overrides(
            model=None,
            dataset=None,
            settings=settings,
            limit=None,
            subsampling=subsampling,
            trials=None,
            cache=cache,
            env=env,
            allow_outside=allow_outside,
        ),
        RunSettings(
            store=store,
            run_id=run_id if earlier is None else earlier,
            max_connections=max_connections,
            batch_size=batch_size,
            max_error_rate=max_error_rate,
            fail_under=gates(fail_under),
            budget_usd=budget_usd,
            prices=prices,
            preflight=not no_preflight,
            resume=earlier is not None,
            retry_errors=retry_errors is not None,
            rescore=traces,
        ),
    )
    return execute(prepared, Manner(not no_prefect, not no_progress, json, verbose))
