"""System tasks: no samples, one function that returns metrics."""

from typing import Any, ClassVar, Literal

from tasks_lib.base import Definition
from tasks_lib.errors import SampleError
from tasks_lib.snippets import SnippetSource, load_snippet


class SystemTask(Definition):
    """Runs the author's `compute_evidence()`."""

    type: Literal["system_task"]
    """Kind of definition."""
    compute_evidence_snippet: SnippetSource("compute_evidence")  # type: ignore[valid-type]
    """Source that defines `compute_evidence()`; returns `{"metrics": {name: {"value": …}}}`."""

    # What a benchmark task has and a system task has not.
    dataset: ClassVar[None] = None
    solver: ClassVar[None] = None
    scorers: ClassVar[tuple[()]] = ()
    trials: ClassVar[None] = None
    actions: ClassVar[None] = None

    def evidence(self) -> dict[str, dict[str, Any]]:
        """Return each metric's `value` and `reason`, by its name.

        Raises:
            SampleError: the snippet failed or returned something else.
        """
        returned = load_snippet(self.compute_evidence_snippet, "compute_evidence")()
        if hasattr(returned, "model_dump"):
            returned = returned.model_dump()
        metrics = returned.get("metrics") if isinstance(returned, dict) else None
        if not isinstance(metrics, dict):
            raise _wrong(f"returned {type(returned).__name__} without 'metrics'")
        return {str(name): _entry(str(name), metric) for name, metric in metrics.items()}


def _entry(name: str, metric: Any) -> dict[str, Any]:
    if hasattr(metric, "model_dump"):
        metric = metric.model_dump()
    value = metric.get("value") if isinstance(metric, dict) else None
    if not isinstance(value, int | float):
        raise _wrong(f"metric '{name}' has no number as its 'value'")
    return {"value": float(value), "reason": metric.get("reason")}


def _wrong(what: str) -> SampleError:
    return SampleError(
        "code",
        f"compute_evidence: {what}",
        fix='return {"metrics": {"name": {"value": 1.0}}}',
    )
