"""`evalmill deploy`: Prefect deployments and their schedules."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from flows.cli import options


def deploy(
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Deployments file; default deployments/prefect.yaml.", show_default=False
        ),
    ] = None,
    json: options.Json = False,
) -> int:
    """Create or update Prefect deployments with their schedules.

    The work pool is made if it is missing; a schedule that a person paused stays paused.

    Example: evalmill deploy deployments/prefect.yaml
    """
    from dataclasses import asdict

    from flows.client import hush_console
    from flows.deployable.deploy import deploy as deploy_file
    from flows.server import configured_api_url, server_status
    from tasks_lib.jsontext import dumps

    hush_console()
    deployed = deploy_file(file)
    if json:
        print(dumps([asdict(deployment) for deployment in deployed]))
    for deployment in deployed:
        schedules = "; ".join(deployment.schedules) or "no schedule"
        print(f"{deployment.name}: {schedules}; {deployment.url}", file=sys.stderr)
    info = None if configured_api_url() else server_status()
    address = f"PREFECT_API_URL={info.url} " if info else ""
    for pool in sorted({deployment.work_pool for deployment in deployed}):
        print(f"run them with: {address}prefect worker start --pool {pool}", file=sys.stderr)
    return 0
