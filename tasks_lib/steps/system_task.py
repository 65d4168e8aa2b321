"""What system tasks compute: their metrics, kept with the run until it is reduced."""

from contextlib import suppress
from pathlib import Path
from typing import Any

from tasks_lib.errors import SampleError, StoreError
from tasks_lib.results.error_text import error_text, unexpected
from tasks_lib.results.files import read_json, write_json
from tasks_lib.results.folder import RunFolder
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
    write_json(_path(folder, spec_key), document)


def read_evidence(folder: RunFolder, spec_key: str) -> tuple[dict[str, Any], str | None]:
    """Return a system task's metrics by name, and what went wrong.

    Raises:
        StoreError: they were not written.
    """
    document = read_json(_path(folder, spec_key))
    return document["metrics"], document["error"]


def _path(folder: RunFolder, spec_key: str) -> Path:
    return folder.path / "evidence" / f"{spec_key}.json"
