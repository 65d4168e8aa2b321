"""`evalmill rescore`: score stored traces again."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options


def rescore(
    source: Annotated[
        str,
        typer.Argument(
            help="A run's id or folder, `last`, or a Parquet or JSONL file with a trace column.",
            show_default=False,
        ),
    ],
    file: options.File,
    trace_column: Annotated[
        str, typer.Option("--trace-column", metavar="NAME", help="Column of a file of traces.")
    ] = "trace",
    settings: options.Settings = None,
    limit: options.Limit = None,
    subsampling: options.Subsampling = None,
    out: options.Store = None,
    run_id: options.RunId = None,
    cache: options.Cache = None,
    max_connections: options.Connections = None,
    batch_size: options.BatchSize = None,
    no_prefect: options.NoPrefect = False,
    max_error_rate: options.MaxErrorRate = 0.0,
    fail_under: options.FailUnder = None,
    env: options.EnvFile = None,
    no_progress: options.NoProgress = False,
    json: options.Json = False,
    verbose: options.Verbose = False,
) -> int:
    """Score stored traces with the scorers of FILE, without calling the evaluated model.

    Example: evalmill rescore last deployments/quickstart.yaml
    """
    from flows.cli.settings import gates, overrides
    from flows.execute import Manner, execute, prepare
    from flows.showing import find_stored
    from tasks_lib.plan import RescoreSource, RunSettings

    store = options.store_folder(out)
    path = Path(source) if Path(source).is_file() else find_stored(source, store).folder.path
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
        ),
        RunSettings(
            store=store,
            run_id=run_id,
            max_connections=max_connections,
            batch_size=batch_size,
            max_error_rate=max_error_rate,
            fail_under=gates(fail_under),
            rescore=RescoreSource(str(path.absolute()), trace_column, limit),
        ),
    )
    return execute(prepared, Manner(not no_prefect, not no_progress, json, verbose))
