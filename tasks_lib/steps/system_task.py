"""What system tasks compute: their metrics, kept with the run until it is reduced."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from tasks_lib.errors import SampleError, StoreError
from tasks_lib.results.error_text import error_text, unexpected
from tasks_lib.results.files import read_json, write_json
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.metric_rows import MetricRow, bare_row
from tasks_lib.runs.run import Run
from tasks_lib.runs.verdict import SpecOutcome
from tasks_lib.system_tasks import SystemTask


def write_evidence(
    folder: RunFolder, spec_key: str, task: SystemTask, *, again: bool = False
) -> None:
    """Compute a system task's metrics and write them down, or why there are none.

    What is written already is not computed again, unless it can't be read.

    Args:
        folder: the run.
        spec_key: the specification.
        task: computes them.
        again: whether what went wrong before is tried again.

    Raises:
        StoreError: they can't be written.
    """
    with suppress(StoreError):
        _, trouble = read_evidence(folder, spec_key)
        if trouble is None or not again:
            return
    try:
        document: dict[str, Any] = {"metrics": task.evidence(), "error": None}
    except SampleError as error:
        document = {"metrics": {}, "error": error_text(error)}
    except Exception as error:
        document = {"metrics": {}, "error": error_text(unexpected(error))}
    write_json(folder.evidence(spec_key), document)


def system_metrics(
    run: Run, spec_key: str, shared: Mapping[str, Any]
) -> tuple[list[MetricRow], SpecOutcome]:
    """Return a system task's metrics, and a row of its own that stands for how it ended.

    Args:
        run: the open run; told of what went wrong.
        spec_key: the specification.
        shared: the columns that name it.

    Raises:
        StoreError: they were not written.
    """
    metrics, error = read_evidence(run.folder, spec_key)
    if error is not None:
        run.warn(f"{spec_key}: {error}")
    rows = [
        bare_row(
            shared,
            scorer_key="",
            purpose="score",
            metric_key=name,
            metric_type="system_task",
            name=name,
            value=metric["value"],
            n=int(metric["value"] is not None),
            n_total=1,
            reason=metric["reason"],
        )
        for name, metric in metrics.items()
    ]
    return rows, SpecOutcome(spec_key, n_rows=1, n_error=int(error is not None))


def read_evidence(folder: RunFolder, spec_key: str) -> tuple[dict[str, Any], str | None]:
    """Return a system task's metrics by name, and what went wrong.

    Raises:
        StoreError: they were not written.
    """
    document = read_json(folder.evidence(spec_key))
    return document["metrics"], document["error"]
