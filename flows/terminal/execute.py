"""Running a plan from the command line: head start, Prefect or not, progress, exit code."""

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path

from flows.collector import calm_garbage_collection
from flows.global_limit import named_limit
from flows.local import LocalDriver
from flows.secret_blocks import from_blocks
from flows.terminal.costs import budget_to_go_on
from tasks_lib import exit_codes
from tasks_lib.errors import CircuitError, DefinitionError, Stopped, StoreError
from tasks_lib.plan import Plan, RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.plan.previous_run import previous_run
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.results.folder import run_folder
from tasks_lib.runs.abort import abort_run
from tasks_lib.runs.record import write_record
from tasks_lib.runs.run import Run, StepResult
from tasks_lib.runs.start import start_run, undeclared_secrets
from tasks_lib.sources import Rows

GRACE_SECONDS = 25.0  # less than the 30 s between SIGTERM and SIGKILL that are usual
"""How long an interrupted run waits for replies in flight, which are paid for."""


@dataclass(frozen=True)
class Manner:
    """How a run is shown and conducted.

    Attributes:
        prefect: whether a Prefect flow conducts it.
        progress: whether progress is shown.
        json: whether stdout gets one JSON document instead of tables.
        verbose: whether more is told on stderr.
    """

    prefect: bool
    progress: bool
    json: bool
    verbose: bool


@dataclass(frozen=True)
class Prepared:
    """A run that is planned and may begin.

    Attributes:
        plan: what it will do.
        rows: the selected rows of each specification.
        env_file: the further `.env` file that was named.
    """

    plan: Plan
    rows: dict[str, Rows]
    env_file: Path | None = None


def prepare(file: Path | None, overrides: Overrides, settings: RunSettings) -> Prepared:
    """Read, check and plan; nothing is called and nothing written.

    Args:
        file: the run, evaluation or task file; None with `settings.resume`, which then
            continues what the stored run resolved.
        overrides: what the command line says of the evaluation.
        settings: what it says of the run.

    Raises:
        DefinitionError: the files, the flags or the data are wrong.
        StoreError: there is no run to resume.
    """
    if not settings.resume:
        if file is None:
            raise DefinitionError("no file to run is named", fix="see: evalmill run --help")
        if file.resolve().is_relative_to((settings.store / "runs").resolve()):
            overrides = _anywhere(overrides)
        plan, rows = plan_run(resolve(file, overrides), settings)
        return Prepared(plan, rows, overrides.env_file)
    flag = "--retry-errors" if settings.retry_errors else "--resume"
    stored = previous_run(run_folder(settings.store, settings.run_id or "", flag))
    if file is None:
        evaluation = resolve(stored.folder.resolved, _anywhere(overrides))
    else:
        evaluation = resolve(file, overrides)
    plan, rows = plan_run(evaluation, stored.settings(settings), stored)
    return Prepared(plan, rows, overrides.env_file)


def _anywhere(overrides: Overrides) -> Overrides:
    """What a run stored was allowed when it began, wherever the store is now."""
    return replace(overrides, allow_outside=True)


def execute(prepared: Prepared, manner: Manner) -> int:
    """Run to the end, tell how it went, and return the exit code.

    Raises:
        DefinitionError: a model can't be opened, or Prefect has no such limit.
        StoreError: the store can't be used; nothing was called.
    """
    calm_garbage_collection()
    names = undeclared_secrets(prepared.plan.evaluation) if manner.prefect else ()
    secrets = from_blocks(names)
    limit = named_limit(manner.prefect)
    run = start_run(prepared.plan, prepared.rows, secrets)
    limit.bind(run)
    run.models.on_notice = _warning
    driver = LocalDriver(run)
    try:
        with _interruptible(run):
            try:
                # What authors' code prints must not mix with the one document on stdout.
                with redirect_stdout(sys.stderr):
                    driver.start()
                    result = _conducted(run, driver, manner)
            except (Stopped, KeyboardInterrupt, StoreError) as error:
                return _ended_early(run, driver, manner, prepared.env_file, error)
    finally:
        run.close()
    from flows.terminal.telling import tell_result

    command = None
    if result["exit_code"] == exit_codes.OVER_BUDGET:
        further = ["--budget-usd", budget_to_go_on(run)]
        command = _resume_command(run, manner, prepared.env_file, further)
    tell_result(run, result, manner.json, manner.verbose, command)
    return int(result["exit_code"])


def _conducted(run: Run, driver: LocalDriver, manner: Manner) -> StepResult:
    """Drive to the end, showing progress meanwhile."""
    from flows.terminal.telling import showing_progress

    with showing_progress(run, manner.progress and not manner.json):
        if not manner.prefect:
            return driver.finish()
        from flows.conductor import conduct

        return conduct(run, driver, on_notice=_notice)


def _notice(words: str) -> None:
    print(words, file=sys.stderr)


def _warning(words: str) -> None:
    from flows.terminal.telling import tell_warnings

    tell_warnings([words])


@contextmanager
def _interruptible(run: Run) -> Iterator[None]:
    """Let Ctrl-C, SIGTERM and a terminal that is closed stop the run in good order.

    A second one ends it at once. Under `nohup` the terminal doesn't matter.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: object) -> None:
        if run.stopping:
            raise KeyboardInterrupt
        run.stop()
        words = f"waiting up to {GRACE_SECONDS:.0f} s for replies in flight (again to end now)"
        print(f"interrupted: {words}", file=sys.stderr)
        raise KeyboardInterrupt

    numbers = [signal.SIGINT, signal.SIGTERM]
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        numbers.append(signal.SIGHUP)
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _ended_early(
    run: Run, driver: LocalDriver, manner: Manner, env_file: Path | None, error: BaseException
) -> int:
    """End a run that was interrupted, or stopped because of a model or the store."""
    run.stop()
    _settle(driver)
    from flows.terminal.telling import tell_breaking_off, tell_interruption

    command = _resume_command(run, manner, env_file)
    cause = error if isinstance(error, StoreError) else run.models.cause
    try:
        if isinstance(cause, CircuitError):
            abort_run(run, cause)
        elif cause is not None:
            write_record(run, "failed", exit_codes.TOO_MANY_ERRORS)
        else:
            write_record(run, "interrupted", exit_codes.INTERRUPTED)
    except StoreError as failure:  # what failed once may fail for this too
        cause = cause or failure
    if cause is None:
        tell_interruption(run, manner.json, command)
        return exit_codes.INTERRUPTED
    tell_breaking_off(run, cause, manner.json, command)
    return exit_codes.TOO_MANY_ERRORS


def _resume_command(
    run: Run, manner: Manner, env_file: Path | None, further: Sequence[str] = ()
) -> str:
    """Return the command that continues a run in the same manner, `further` flags added."""
    from flows.terminal.telling import resume_command

    settings = run.plan.settings
    flags = [] if manner.prefect else ["--no-prefect"]
    if not settings.preflight:
        flags.append("--no-preflight")
    if env_file is not None:
        flags += ["--env", str(env_file.absolute())]
    if settings.prices is not None:
        flags += ["--prices", str(settings.prices.absolute())]
    return resume_command(run, [*flags, *further])


def _settle(driver: LocalDriver) -> None:
    """Give replies in flight a chance to come in and be recorded."""
    try:
        driver.settle(GRACE_SECONDS)
    except KeyboardInterrupt:
        return
