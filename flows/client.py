"""How this process talks to a Prefect API: its address, its settings, its quiet, its leave."""

import concurrent.futures
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prefect._internal.concurrency import services
from prefect.client.orchestration import get_client
from prefect.events.worker import EventsWorker
from prefect.logging.handlers import APILogWorker, PrefectConsoleHandler
from prefect.settings import (
    PREFECT_API_URL,
    PREFECT_CLIENT_MAX_RETRIES,
    PREFECT_FLOWS_HEARTBEAT_FREQUENCY,
    PREFECT_SERVER_ALLOW_EPHEMERAL_MODE,
    temporary_settings,
)

from flows.server import ServerUnavailable, configured_api_url, ensure_server, server_status

CLIENT_RETRIES = 2


def find_api(notice: Callable[[str], None] | None = None) -> str:
    """Return the URL of the API to use: the configured one, else our own server's.

    Args:
        notice: told that the server is being started, which takes some seconds.

    Raises:
        ServerUnavailable: it does not answer, or no server can be had.
    """
    configured = configured_api_url()
    if configured is None:
        if notice is not None and server_status() is None:
            notice("starting the local Prefect server; it stays up for the next run")
        return ensure_server().url
    with connected(configured), get_client(sync_client=True) as client:
        trouble = client.api_healthcheck()
    if trouble is not None:
        raise ServerUnavailable(
            f"the Prefect API does not answer: {trouble}",
            configured,
            "start it, or unset PREFECT_API_URL to use evalmill's own server",
        )
    return configured


@contextmanager
def connected(api_url: str) -> Iterator[None]:
    """Use the API at `api_url` in this context, never Prefect's ephemeral server.

    Heartbeats are off: the end of a flow would wait up to a second for their thread. Failed
    requests are given up after seconds: the run folder is the truth, not Prefect.
    """
    with temporary_settings(
        {
            PREFECT_API_URL: api_url,
            PREFECT_SERVER_ALLOW_EPHEMERAL_MODE: False,
            PREFECT_FLOWS_HEARTBEAT_FREQUENCY: None,
            PREFECT_CLIENT_MAX_RETRIES: CLIENT_RETRIES,
        }
    ):
        yield


def hush_task_runs() -> None:
    """Let task runs log their troubles only, not that each of them finished."""
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)


def hush_console() -> None:
    """Keep Prefect's own log lines off the terminal; the API still receives a flow's."""
    logging.raiseExceptions = False  # else a log line that isn't delivered is printed
    root = logging.getLogger()
    for handler in list(root.handlers):
        if isinstance(handler, PrefectConsoleHandler):
            root.removeHandler(handler)
    for name in ("prefect", "prefect._internal", "EventsWorker", "APILogWorker"):
        logger = logging.getLogger(name)
        logger.handlers = [logging.NullHandler()]
        logger.propagate = False


def deliver(timeout: float) -> bool:
    """Send off events and log lines that still wait; drop them after `timeout` seconds.

    Without this, a process whose server died would not exit for minutes: each event is tried
    for seven seconds.

    Returns:
        Whether all were delivered.
    """
    waiting = [(worker, worker._task) for worker in tuple(services._active_services)]
    pending: set[concurrent.futures.Future[bool]] = set()
    for kind in (EventsWorker, APILogWorker):
        outcome = kind.drain_all(timeout=timeout, at_exit=False)
        if isinstance(outcome, tuple):
            pending |= outcome[1]
    if not pending:
        return True
    for worker, task in waiting:
        if task is not None and worker._loop is not None:
            worker._loop.call_soon_threadsafe(task.cancel)
    concurrent.futures.wait(pending, timeout=1.0)
    return False
