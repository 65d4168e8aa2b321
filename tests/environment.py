"""What of a developer's environment must not reach the tests."""

import os
from collections.abc import Mapping

_PREFIXES = ("PREFECT_", "EVALMILL_", "OPENAI_")
_SUFFIXES = ("_API_KEY", "_BASE_URL", "_PROXY")
_NAMES = ("FORCE_COLOR", "CLICOLOR_FORCE", "NO_COLOR", "COLUMNS", "PYTHONPATH")


def is_foreign(name: str) -> bool:
    """Return whether a variable could change what a test sees."""
    upper = name.upper()
    return upper.startswith(_PREFIXES) or upper.endswith(_SUFFIXES) or upper in _NAMES


def own_environment() -> Mapping[str, str]:
    """Return the environment without foreign variables."""
    return {name: value for name, value in os.environ.items() if not is_foreign(name)}
