"""`evalmill plan`: show what a run would do."""

from typing import Annotated

import typer

from flows.cli import options
from flows.store import store_folder


def plan(
    file: options.File,
    model: options.ModelKey = None,
    dataset: options.DatasetKey = None,
    settings: options.Settings = None,
    limit: options.Limit = None,
    subsampling: options.Subsampling = None,
    trials: options.Trials = None,
    out: options.Store = None,
    max_connections: options.Connections = None,
    batch_size: options.BatchSize = None,
    show: Annotated[
        int, typer.Option("--show", min=0, metavar="N", help="Print the prompts of N samples.")
    ] = 0,
    no_preflight: options.NoPreflight = False,
    prices: options.Prices = None,
    env: options.EnvFile = None,
    allow_outside: options.AllowOutside = False,
    json: options.Json = False,
) -> int:
    """Show what a run would do: samples, calls, batches, tokens, cost. Nothing is called.

    Example: evalmill plan deployments/quickstart.yaml --show 2
    """
    from flows.cli.settings import overrides
    from tasks_lib.jsontext import dumps
    from tasks_lib.plan import RunSettings
    from tasks_lib.plan.explain import explain
    from tasks_lib.plan.planner import plan_run
    from tasks_lib.plan.preflight import check_prompts
    from tasks_lib.report.plan_text import plan_text
    from tasks_lib.resolve import resolve

    evaluation = resolve(
        file,
        overrides(
            model=model,
            dataset=dataset,
            settings=settings,
            limit=limit,
            subsampling=subsampling,
            trials=trials,
            cache=None,
            env=env,
            allow_outside=allow_outside,
        ),
    )
    run_settings = RunSettings(
        store_folder(out),
        max_connections=max_connections,
        batch_size=batch_size,
        prices=prices,
    )
    planned, rows = plan_run(evaluation, run_settings)
    if not no_preflight:
        check_prompts(planned.evaluation, rows)
    explanation = explain(planned, rows, show)
    print(dumps(explanation) if json else plan_text(explanation))
    return 0
