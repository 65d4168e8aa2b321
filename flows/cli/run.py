"""`evalmill run`: run an evaluation."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder


def run(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="A run file, an evaluation file or a task file; not needed to continue a run.",
            show_default=False,
        ),
    ] = None,
    model: options.ModelKey = None,
    dataset: options.DatasetKey = None,
    settings: options.Settings = None,
    limit: options.Limit = None,
    subsampling: options.Subsampling = None,
    trials: options.Trials = None,
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
    """Run an evaluation.

    Example: evalmill run deployments/quickstart.yaml -n 20
    """
    from flows.cli.settings import continued_run, gates, overrides
    from flows.terminal.execute import Manner, execute, prepare
    from tasks_lib.plan import RunSettings

    store = store_folder(out)
    earlier = continued_run(resume, retry_errors, run_id, store)
    prepared = prepare(
        file,
        overrides(
            model=model,
            dataset=dataset,
            settings=settings,
            limit=limit,
            subsampling=subsampling,
            trials=trials,
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
        ),
    )
    return execute(prepared, Manner(not no_prefect, not no_progress, json, verbose))
