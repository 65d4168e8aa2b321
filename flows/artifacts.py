"""What a flow run shows in Prefect's UI: name, tags, progress, metrics."""

import contextvars
import re
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, cast
from uuid import UUID

from prefect.artifacts import (
    create_progress_artifact,
    create_table_artifact,
    update_progress_artifact,
)
from prefect.client.orchestration import get_client
from prefect.logging import get_run_logger
from prefect.runtime import flow_run

from flows.terminal.costs import paid_words
from tasks_lib.plan import Plan
from tasks_lib.runs.run import Run

PROGRESS_SECONDS = 2.0
LOG_STEP = 0.1
LAST_UPDATE_SECONDS = 5.0
MOST_ROWS = 500


class Mirror:
    """Shows a run in the UI while it goes on, from a thread of its own.

    Nothing here can fail or hold up the run: a server that is gone is left alone.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._metrics: Sequence[Mapping[str, Any]] = ()
        self._ended = threading.Event()
        context = contextvars.copy_context()
        self._thread = threading.Thread(
            target=context.run, args=(self._show,), name="prefect-mirror", daemon=True
        )

    def __enter__(self) -> "Mirror":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join(timeout=LAST_UPDATE_SECONDS)

    def show_metrics(self, metrics: Sequence[Mapping[str, Any]]) -> None:
        """Have these metrics shown when the run ends."""
        self._metrics = metrics

    def _show(self) -> None:
        try:
            name_flow_run(self._run.plan)
            self._show_progress()
            if self._metrics:
                publish_metrics(self._run.plan, self._metrics)
        except Exception as error:
            get_run_logger().warning("the run is no longer shown here: %r", error)

    def _show_progress(self) -> None:
        plan = self._run.plan
        key = artifact_key(plan.evaluation.key, "progress")
        shown = self._done()
        artifact = cast(UUID, create_progress_artifact(shown * 100, key, self._description()))
        logged = 0.0
        while not self._ended.wait(PROGRESS_SECONDS) or self._done() > shown:
            done = self._done()
            if done > shown:
                update_progress_artifact(artifact, done * 100, self._description())
                shown = done
            if done >= logged + LOG_STEP:
                logged = done
                get_run_logger().info(
                    "%s of %s samples solved, %s failed%s",
                    f"{self._run.progress.samples_done:,}",
                    f"{self._run.progress.samples_total:,}",
                    f"{self._run.progress.samples_failed:,}",
                    self._paid(),
                )

    def _description(self) -> str:
        return f"Samples of run `{self._run.plan.run_id}` that are solved{self._paid()}"

    def _paid(self) -> str:
        paid = paid_words(self._run)
        return f", {paid}" if paid else ""

    def _done(self) -> float:
        progress = self._run.progress
        return min(1.0, progress.samples_done / max(1, progress.samples_total))


def name_flow_run(plan: Plan) -> None:
    """Name the flow run after the run; tag it with evaluation, tasks and models.

    The tags are not put around the flow: its task runs would take them over, and Prefect
    asks for a concurrency limit of each tag of each task run.
    """
    with get_client(sync_client=True) as client:
        client.update_flow_run(
            UUID(str(flow_run.get_id())),
            name=plan.run_id,
            tags=sorted({*(flow_run.get_tags() or ()), *run_tags(plan)}),
        )


def run_tags(plan: Plan) -> set[str]:
    """Return the tags by which a run is found in the UI."""
    specs = plan.evaluation.specs
    return {
        f"evaluation:{plan.evaluation.key}",
        *(f"task:{spec.task.key}" for spec in specs),
        *(f"model:{spec.model_key}" for spec in specs if spec.model_key),
    }


def publish_metrics(plan: Plan, metrics: Sequence[Mapping[str, Any]]) -> None:
    """Publish the metrics of a run as a table artifact, at most `MOST_ROWS` of them."""
    rows = [metric_row(metric) for metric in metrics[:MOST_ROWS]]
    more = f" The first {MOST_ROWS} of {len(metrics)} metrics." if len(metrics) > MOST_ROWS else ""
    create_table_artifact(
        table=rows,
        key=artifact_key(plan.evaluation.key, "metrics"),
        description=(
            f"Metrics of run `{plan.run_id}` of *{plan.evaluation.display_name}*, stored in "
            f"`{plan.run_dir}`. Details: `evalmill show {plan.run_id}`.{more}"
        ),
    )


def metric_row(metric: Mapping[str, Any]) -> dict[str, Any]:
    """Return one row of the metrics table, ready to be read."""
    low, high = metric["ci_low"], metric["ci_high"]
    interval = "" if low is None or high is None else f"{_short(low)} to {_short(high)}"
    return {
        "specification": metric["spec_key"],
        "model": metric["model_key"] or "",
        "scorer": metric["scorer_key"],
        "metric": metric["name"],
        "value": metric["reason"] if metric["value"] is None else _short(metric["value"]),
        "interval": interval,
        "rows": metric["n"],
        "of": metric["n_total"],
        "errors": metric["n_error"],
        "skipped": metric["n_skipped"],
    }


def artifact_key(*parts: str) -> str:
    """Return a key made of lower-case letters, digits and dashes, as Prefect wants it."""
    return re.sub(r"[^a-z0-9]+", "-", "-".join(parts).lower()).strip("-")


def _short(value: float) -> str:
    return f"{value:.4g}"
