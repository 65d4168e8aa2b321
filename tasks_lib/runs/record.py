"""What `run.json` says of a run, from its start to its end."""

import platform
import subprocess
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from tasks_lib.jsontext import storable
from tasks_lib.plan import RunSettings
from tasks_lib.plan.previous_run import fingerprints
from tasks_lib.results.error_text import error_text
from tasks_lib.results.files import write_json
from tasks_lib.results.schemas import SCHEMA_VERSION
from tasks_lib.runs.run import Run
from tasks_lib.runs.verdict import RunStatus, SpecOutcome

_PACKAGES = ("evalmill", "openai", "prefect", "pyarrow", "pydantic")


def write_record(
    run: Run,
    status: RunStatus,
    exit_code: int | None = None,
    outcomes: Sequence[SpecOutcome] = (),
) -> None:
    """Write `run.json`.

    Args:
        run: the open run.
        status: how far it came.
        exit_code: how it ended; None while it goes on.
        outcomes: how its specifications ended, once it reached its end.

    Raises:
        StoreError: it can't be written.
    """
    plan = run.plan
    by_key = {outcome.key: outcome for outcome in outcomes}
    record = {
        "schema_version": SCHEMA_VERSION,
        "run_id": plan.run_id,
        "status": status,
        "exit_code": exit_code,
        "started_at": _iso(plan.created),
        "finished_at": None if status == "running" else _iso(datetime.now(UTC)),
        "evaluation": plan.evaluation.key,
        "specs": [
            {
                "key": spec.key,
                "task_key": spec.task.key,
                "model_key": spec.model_key,
                "n_samples": plan.spec(spec.key).n_samples,
                "num_trials": spec.num_trials,
                "num_runs": spec.num_runs,
                **_counts(by_key.get(spec.key)),
            }
            for spec in plan.evaluation.specs
        ],
        "calls": _calls(run, outcomes),
        "prices": {
            key: known.price.model_dump(exclude_none=True) | {"source": known.source}
            for key, known in plan.prices.items()
        },
        "versions": _versions(),
        "git_commit": _git_commit(plan.evaluation.source_file.parent),
        "prefect_flow_run_id": run.prefect_flow_run_id,
        "scheduled": run.scheduled,
        "warnings": run.warnings,
        "stopped": _stopped(run),
        "plan": {
            "max_connections": plan.settings.max_connections,
            "max_error_rate": plan.settings.max_error_rate,
            "budget_usd": plan.settings.budget_usd,
            "fail_under": dict(plan.settings.fail_under),
            "rescore": _rescore_source(plan.settings),
            "fingerprints": fingerprints(plan.evaluation, run.rows),
            "batches": {spec.key: [list(cut) for cut in spec.batches] for spec in plan.specs},
        },
    }
    write_json(run.folder.run_json, record)


def _rescore_source(settings: RunSettings) -> dict[str, Any] | None:
    """What is scored again; a run of the same store by its path there, which may move."""
    source = settings.rescore
    if source is None:
        return None
    path = Path(source.path)
    inside = path.is_relative_to(settings.store)
    return asdict(source) | {"path": str(path.relative_to(settings.store) if inside else path)}


def _counts(outcome: SpecOutcome | None) -> dict[str, int | None]:
    names = ("n_rows", "n_scored", "n_error", "n_skipped", "n_excluded")
    return {name: getattr(outcome, name) if outcome else None for name in names}


def _calls(run: Run, outcomes: Sequence[SpecOutcome]) -> dict[str, Any]:
    """The calls behind the stored rows; of an unfinished run, those of this process.

    `cost_usd` is what the run paid for its fresh calls, from its first start on;
    `cost_without_ledger_usd` what the calls behind the rows would cost if none were recorded.
    """
    totals, paid = run.models.totals, run.models.spending.cost_usd
    if not outcomes:
        return {
            "total": totals.total,
            "from_ledger": totals.from_ledger,
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "cost_usd": paid,
            "cost_without_ledger_usd": None,
        }
    costs = [outcome.cost_usd for outcome in outcomes]
    return {
        "total": sum(outcome.calls for outcome in outcomes),
        "from_ledger": sum(outcome.ledger_hits for outcome in outcomes),
        "input_tokens": sum(outcome.input_tokens for outcome in outcomes),
        "output_tokens": sum(outcome.output_tokens for outcome in outcomes),
        "cost_usd": paid,
        "cost_without_ledger_usd": None if None in costs else sum(filter(None, costs)),
    }


def _stopped(run: Run) -> dict[str, Any] | None:
    """Why a model ended the run, and the rows that showed it; None when none did."""
    cause = run.models.cause
    if cause is None:
        return None
    return {
        "model_key": cause.model,
        "problem": str(cause),
        "rows": [
            {
                "spec_key": failed.call.spec_key,
                "sample_id": storable(failed.call.sample_id),
                "trial": failed.call.trial,
                "caller": failed.call.caller,
                "error_class": failed.error.error_class,
                "error_message": error_text(failed.error),
            }
            for failed in run.models.failed_calls
        ],
    }


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _versions() -> dict[str, str]:
    versions = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            versions[name] = version(name)
        except PackageNotFoundError:
            continue  # an extra that is not installed, or a source tree that is not
    return versions


def _git_commit(folder: Path) -> str | None:
    """The commit of the files that were run; None outside a checkout."""
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), "rev-parse", "HEAD"],
            capture_output=True,
            text=True,
            timeout=5,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return found.stdout.strip() or None if found.returncode == 0 else None
