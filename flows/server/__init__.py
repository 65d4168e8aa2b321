"""evalmill's own local Prefect server: found or started on loopback, kept for the next run."""

from flows.server.address import configured_api_url
from flows.server.control import (
    ServerUnavailable,
    ensure_server,
    is_healthy,
    server_status,
    stop_server,
)
from flows.server.home import ServerHome, ServerInfo

__all__ = [
    "ServerHome",
    "ServerInfo",
    "ServerUnavailable",
    "configured_api_url",
    "ensure_server",
    "is_healthy",
    "server_status",
    "stop_server",
]
