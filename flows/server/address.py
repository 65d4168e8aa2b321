"""Which Prefect API the surroundings name, read the way Prefect does but without importing it."""

import os
import tomllib
from pathlib import Path
from typing import Any

from dotenv import dotenv_values


def configured_api_url() -> str | None:
    """Return the API URL that Prefect itself would use, None when nobody named one.

    In Prefect's order: the environment, `.env`, `prefect.toml` and `pyproject.toml` of the
    working folder, the active profile.
    """
    return (
        os.environ.get("PREFECT_API_URL")
        or dotenv_values(".env").get("PREFECT_API_URL")
        or _text(_toml(Path("prefect.toml")), "api", "url")
        or _text(_toml(Path("pyproject.toml")), "tool", "prefect", "api", "url")
        or _profile_api_url()
    )


def _profile_api_url() -> str | None:
    """Return the URL of the active profile of the user's Prefect home."""
    home = Path(os.environ.get("PREFECT_HOME", "~/.prefect")).expanduser()
    file = Path(os.environ.get("PREFECT_PROFILES_PATH", home / "profiles.toml")).expanduser()
    profiles = _toml(file)
    active = os.environ.get("PREFECT_PROFILE") or _text(profiles, "active")
    return _text(profiles, "profiles", active, "PREFECT_API_URL") if active else None


def _toml(file: Path) -> dict[str, Any]:
    """Return the file's content; nothing when it is absent or not TOML."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def _text(tree: Any, *keys: str) -> str | None:
    """Return the non-empty text at a path of keys, None when it isn't there."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree if isinstance(tree, str) and tree else None
