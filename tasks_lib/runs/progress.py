"""How far a run is."""

import threading
from dataclasses import dataclass, field


@dataclass(slots=True)
class Progress:
    """How far a run is; read by whoever shows it, changed by the steps.

    Attributes:
        samples_total: samples of all specifications, each counted once a trial.
        samples_done: of these, solved (or read from finished parts).
        samples_failed: of these, ended in an error.
        samples_skipped: not solved, because the budget allowed no further call.
        rows_scored: rows that went through their scorers.
    """

    samples_total: int
    samples_done: int = 0
    samples_failed: int = 0
    samples_skipped: int = 0
    rows_scored: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def solved(self, failed: bool) -> None:
        """Count one solved sample."""
        with self._lock:
            self.samples_done += 1
            self.samples_failed += failed

    def add(self, *, done: int = 0, failed: int = 0, skipped: int = 0, scored: int = 0) -> None:
        """Count many at once."""
        with self._lock:
            self.samples_done += done
            self.samples_failed += failed
            self.samples_skipped += skipped
            self.rows_scored += scored
