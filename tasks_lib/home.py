"""The folder of evalmill's own files that belong to no project and no store."""

import os
from pathlib import Path


def evalmill_home() -> Path:
    """Return the folder named by `$EVALMILL_HOME`, else `~/.evalmill`; it may not exist yet."""
    named = os.environ.get("EVALMILL_HOME")
    return Path(named) if named else Path.home() / ".evalmill"
