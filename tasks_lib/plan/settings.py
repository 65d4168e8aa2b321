"""What the command line says of a run beyond the definitions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class RescoreSource:
    """Recorded conversations that are scored again.

    Attributes:
        path: a run's folder, or a Parquet or JSONL file of traces or a folder of such; absolute.
        trace_column: of a file, the column that holds the traces.
        num_samples: how many; None is all.
    """

    path: str
    trace_column: str = "trace"
    num_samples: int | None = None


@dataclass(frozen=True)
class RunSettings:
    """What the command line says of a run beyond the definitions.

    Attributes:
        store: folder of the store.
        run_id: the id to use; None makes one.
        max_connections: calls in flight of one model at most; None leaves it to the models.
        batch_size: samples a batch; None chooses.
        max_error_rate: share of rows, 0 to 1, that may fail before the exit code says so.
        fail_under: metric name -> least value.
        resume: whether the run continues an earlier one of the same id.
        retry_errors: whether it then does again what ended in an error there.
        rescore: what is scored again instead of calling the evaluated model.
        preflight: whether a run whose prompts or whose model can't work is refused or stopped
            after a few samples.
        budget_usd: what fresh calls may cost before no further one begins; None has no end.
        prices: a file of prices that wins over the others.
    """

    store: Path
    run_id: str | None = None
    max_connections: int | None = None
    batch_size: int | None = None
    max_error_rate: float = 0.0
    fail_under: Mapping[str, float] = field(default_factory=dict)
    resume: bool = False
    retry_errors: bool = False
    rescore: RescoreSource | None = None
    preflight: bool = True
    budget_usd: float | None = None
    prices: Path | None = None
