"""Results on disk: written part by part, read back as data frames."""

from tasks_lib.results.load import StoredRun, load_run

__all__ = ["StoredRun", "load_run"]
