"""System tasks: no samples, one function that returns metrics."""

from dataclasses import asdict, is_dataclass
from math import isfinite
from typing import Any, ClassVar, Literal

from tasks_lib.errors import SampleError, bounded
from tasks_lib.isolation.member import Seconds, SnippetMember
from tasks_lib.snippets import SnippetSource


class SystemTask(SnippetMember):
    """Runs the author's `compute_evidence()`."""

    type: Literal["system_task"]
    """Kind of definition."""
    compute_evidence_snippet: SnippetSource("compute_evidence")  # type: ignore[valid-type]
    """Source that defines `compute_evidence()`; returns `{"metrics": {name: {"value": …}}}`."""

    timeout: Seconds = 3600.0
    """Seconds the function may take; then the task has failed."""

    # What a benchmark task has and a system task has not.
    dataset: ClassVar[None] = None
    solver: ClassVar[None] = None
    scorers: ClassVar[tuple[()]] = ()
    trials: ClassVar[None] = None
    actions: ClassVar[None] = None

    def evidence(self) -> dict[str, dict[str, Any]]:
        """Return each metric's `value` and `reason`, by its name.

        A value that is not finite is None, and the reason says so.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        returned = _plain(self.call(self.compute_evidence_snippet, "compute_evidence"))
        metrics = returned.get("metrics") if isinstance(returned, dict) else None
        if not isinstance(metrics, dict):
            raise _wrong(f"returned {bounded(repr(returned), 80)}, which has no 'metrics'")
        return {str(name): _entry(str(name), metric) for name, metric in metrics.items()}


def _entry(name: str, metric: Any) -> dict[str, Any]:
    metric = _plain(metric)
    value = _plain(metric.get("value")) if isinstance(metric, dict) else None
    if not isinstance(value, int | float):
        raise _wrong(f"metric '{name}' has no number as its 'value'")
    reason = metric.get("reason")
    if not isinstance(reason, str | None):
        raise _wrong(f"metric '{name}' has a 'reason' that is no text")
    try:
        number = float(value)
    except OverflowError:
        raise _wrong(f"metric '{name}' is beyond the range of floats") from None
    if not isfinite(number):
        said = f"{reason}; the value is {number}" if reason else f"the value is {number}"
        return {"value": None, "reason": said}
    return {"value": number, "reason": reason}


def _plain(value: Any) -> Any:
    """Return a typed object as a mapping, and a number of numpy's as a plain one."""
    if hasattr(value, "model_dump"):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if type(value).__module__ == "numpy" and hasattr(value, "item"):
        return value.item()
    return value


def _wrong(what: str) -> SampleError:
    return SampleError(
        "code",
        f"compute_evidence: {what}",
        fix='return {"metrics": {"name": {"value": 1.0}}}',
    )
