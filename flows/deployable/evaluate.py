"""The deployable flow `evaluate`: an evaluation, started by a person, a schedule or the API."""

from pathlib import Path
from typing import Any

from prefect import flow

from flows.compile import evaluate_here
from flows.deployable import parameters as shown
from flows.deployable.overtaken import skip_if_overtaken
from flows.deployable.scheduled import due_time
from flows.store import store_folder
from tasks_lib.plan import RunSettings
from tasks_lib.resolve import Overrides, resolve


@flow(name="evaluate", persist_result=False)
def evaluate(
    file: shown.File,
    model: shown.Model = None,
    dataset: shown.Dataset = None,
    config: shown.Config = {},  # noqa: B006  # a form shows a default; it is never changed
    limit: shown.Limit = None,
    subsampling: shown.Subsampling = None,
    trials: shown.Trials = None,
    cache: shown.Cache = None,
    max_connections: shown.MaxConnections = None,
    batch_size: shown.BatchSize = None,
    preflight: shown.Preflight = True,
    max_error_rate: shown.MaxErrorRate = 0.0,
    fail_under: shown.FailUnder = {},  # noqa: B006
    budget_usd: shown.Budget = None,
    store: shown.Store = None,
    env_file: shown.EnvFile = None,
    allow_outside: shown.AllowOutside = False,
) -> Any:
    """Run an evaluation and keep what happened in the store.

    The flow run fails when a gate fails, more samples fail than allowed, or the budget is used
    up. A scheduled one that a later one has overtaken is skipped.
    """
    skipped = skip_if_overtaken()
    if skipped is not None:
        return skipped
    overrides = Overrides(
        model=model,
        dataset=dataset,
        settings=shown.config_texts(config),
        num_samples=limit,
        subsampling=subsampling,
        num_trials=trials,
        cache_policy=cache,
        env_file=Path(env_file) if env_file else None,
        allow_outside=allow_outside,
    )
    settings = RunSettings(
        store=store_folder(store),
        max_connections=max_connections,
        batch_size=batch_size,
        max_error_rate=max_error_rate,
        fail_under=fail_under,
        budget_usd=budget_usd,
        preflight=preflight,
    )
    return evaluate_here(resolve(Path(file), overrides), settings, due_time())
