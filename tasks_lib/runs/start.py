"""Opening a run: from a plan to a run folder that steps can work in."""

from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType

from tasks_lib.errors import DefinitionError
from tasks_lib.plan import Plan
from tasks_lib.plan.preflight import check_prompts
from tasks_lib.resolve import ResolvedEvaluation
from tasks_lib.results.files import clear_unfinished, remove, write_text
from tasks_lib.results.folder import RunFolder
from tasks_lib.runs.prior_spending import count_prior_spending
from tasks_lib.runs.record import write_record
from tasks_lib.runs.run import Run, open_run
from tasks_lib.secrets import secret_names
from tasks_lib.sources import Rows


def undeclared_secrets(evaluation: ResolvedEvaluation) -> list[str]:
    """Return the names of secrets that models use and no file declares."""
    return list(
        dict.fromkeys(
            name
            for model in evaluation.models.values()
            for name in secret_names(model.config.model_dump_json())
            if name not in evaluation.secrets and name not in (model.secrets or {})
        )
    )


def start_run(
    plan: Plan, rows: dict[str, Rows], secrets: Mapping[str, str] = MappingProxyType({})
) -> Run:
    """Open the run, check that its models can be called, and write its first files.

    Args:
        plan: what to do.
        rows: the selected rows of each specification.
        secrets: values of `undeclared_secrets`; they are kept in memory only.

    Raises:
        DefinitionError: the run id is taken, somebody is working on the run, none of the first
            prompts can be made, or a model can't be opened.
        StoreError: the store can't be used.
    """
    folder = RunFolder(plan.run_dir)
    if plan.settings.preflight and not plan.settings.resume:
        check_prompts(plan.evaluation, rows)
    run = open_run(plan, rows, secrets)
    try:
        if plan.settings.resume:
            clear_unfinished(folder.path)
        elif folder.run_json.exists():
            raise DefinitionError(
                f"there is a run '{plan.run_id}' already",
                where="--run-id",
                fix=f"choose another id, or continue it with --resume {plan.run_id}",
            )
        run.check_models()
        count_prior_spending(run)
        remove(folder.complete)
        if not folder.resolved.exists():
            write_text(folder.resolved, plan.evaluation.to_yaml())
        write_record(run, "running")
    except BaseException:
        run.close()
        with suppress(OSError):
            plan.run_dir.rmdir()  # empty when nothing was begun
        raise
    return run
