"""Where runs are kept when nobody says so."""

import os
from pathlib import Path


def store_folder(named: Path | str | None = None) -> Path:
    """Return the store `named`, else that of `$EVALMILL_STORE`, else `.evalmill` here; absolute."""
    return Path(os.path.abspath(named or os.environ.get("EVALMILL_STORE") or ".evalmill"))
