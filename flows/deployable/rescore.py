"""The deployable flow `rescore`: stored traces scored again, without the evaluated model."""

from pathlib import Path
from typing import Any

from prefect import flow

from flows.compile import evaluate_here
from flows.deployable import parameters as shown
from flows.deployable.overtaken import skip_if_overtaken
from flows.deployable.scheduled import due_time
from flows.store import store_folder
from tasks_lib.plan import RescoreSource, RunSettings
from tasks_lib.plan.rescore import find_traces
from tasks_lib.resolve import Overrides, resolve


@flow(name="rescore", persist_result=False)
def rescore(
    source: shown.TraceSource,
    file: shown.File,
    trace_column: shown.TraceColumn = "trace",
    config: shown.Config = {},  # noqa: B006  # a form shows a default; it is never changed
    limit: shown.Limit = None,
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
    """Score stored traces with the scorers of a file and keep the scores as a new run.

    The evaluated model is not called. The flow run fails when a gate fails, more samples fail
    than allowed, or the budget is used up. A scheduled one that a later one has overtaken is
    skipped.
    """
    skipped = skip_if_overtaken()
    if skipped is not None:
        return skipped
    folder = store_folder(store)
    overrides = Overrides(
        settings=shown.config_texts(config),
        env_file=Path(env_file) if env_file else None,
        allow_outside=allow_outside,
    )
    settings = RunSettings(
        store=folder,
        max_connections=max_connections,
        batch_size=batch_size,
        max_error_rate=max_error_rate,
        fail_under=fail_under,
        budget_usd=budget_usd,
        preflight=preflight,
        rescore=RescoreSource(str(find_traces(source, folder)), trace_column, limit),
    )
    return evaluate_here(resolve(Path(file), overrides), settings, due_time())
