"""The runs that are open in this process, which steps find by their folder."""

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType
from typing import Any

from tasks_lib.errors import StoreError
from tasks_lib.models.ledger import CachePolicy, Ledger
from tasks_lib.models.loop import STALL_SECONDS, LoopThread
from tasks_lib.models.service import ModelService
from tasks_lib.models.spending import Spending
from tasks_lib.plan import Plan, models_to_call
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.folder import RunFolder
from tasks_lib.results.lock import RunLock
from tasks_lib.results.schemas import Place, SampleRecord
from tasks_lib.runs.leases import Leases, Unlimited
from tasks_lib.runs.progress import Progress
from tasks_lib.scorers.score import Score
from tasks_lib.sources import Rows

StepResult = dict[str, Any]
StepKey = tuple[str, ...]


class Run:
    """One run that is open in this process: its plan, rows, models and progress.

    Args:
        plan: what to do.
        rows: the selected rows of each specification.
        secrets: values of secrets that no file declares.
        lock: the right to write to the run's folder.
    """

    def __init__(
        self, plan: Plan, rows: dict[str, Rows], secrets: Mapping[str, str], lock: RunLock
    ) -> None:
        self.plan = plan
        self.folder = RunFolder(plan.run_dir)
        self.progress = Progress(
            sum(plan.spec(spec.key).n_samples * spec.repeats for spec in plan.evaluation.specs)
        )
        self.warnings: list[str] = list(plan.evaluation.warnings)
        self.rows = rows
        self.solved: dict[tuple[str, int], list[SampleRecord]] = {}
        """Batches solved here and not scored yet, by specification and start."""
        self.kept: dict[tuple[str, str, int], dict[Place, Score]] = {}
        """Scores of batches being done again in part, by specification, scorer and start."""
        self.prefect_flow_run_id: str | None = None
        self.scheduled: dict[str, str] | None = None
        """When a schedule wanted the run, in UTC and locally; None for runs started by hand."""
        ledger = Ledger(plan.settings.store, plan.run_id, _policy(plan))
        self.loop = LoopThread()
        self.models = ModelService(
            plan.evaluation.models,
            plan.evaluation.adapters,
            {**secrets, **plan.evaluation.secrets},
            ledger,
            plan.settings.max_connections,
            plan.settings.preflight,
            Spending(
                {key: known.price for key, known in plan.prices.items()}, plan.settings.budget_usd
            ),
        )
        self.leases: Leases = Unlimited()
        """Who hands out the right to make calls, beside the models' own limits."""
        self._specs = {spec.key: spec for spec in plan.evaluation.specs}
        self._steps: dict[StepKey, Future[StepResult]] = {}
        self._lock = threading.Lock()
        self._folder_lock = lock
        self._closed = False

    def spec(self, key: str) -> ResolvedSpec:
        """Return the resolved specification."""
        return self._specs[key]

    def check_models(self) -> None:
        """Open every model that may be called, so that what is missing shows now.

        Raises:
            DefinitionError: a secret, an adapter or a file is missing.
        """

        async def open_all() -> None:
            for key in models_to_call(self.plan.evaluation, self.plan.settings):
                self.models.model(key)

        self.loop.run(open_all())

    def leased(self, calls: int) -> AbstractContextManager[int]:
        """Hold a batch's right to make calls; enter it for how many it may make at a time.

        Entering raises `Stopped` when the run is interrupted before it is had.
        """
        return self.leases.hold(calls, self.models.check_going_on)

    def once(self, key: StepKey, work: Callable[[], StepResult]) -> StepResult:
        """Do `work` once for all who ask for `key`; later and simultaneous callers share it.

        A step that failed is forgotten, so that asking again tries again.
        """
        with self._lock:
            future = self._steps.get(key)
            mine = future is None
            if future is None:
                future = self._steps[key] = Future()
        if not mine:
            return future.result()
        try:
            result = work()
        except BaseException as error:
            with self._lock:
                del self._steps[key]
            future.set_exception(error)
            raise
        future.set_result(result)
        return result

    def patience(self, *limits: float) -> float:
        """Return the seconds that a batch may show no sign of life, which its own limits allow.

        Args:
            limits: seconds that authors' code may take.
        """
        calls = (model.timeout for model in self.plan.evaluation.models.values())
        return max(STALL_SECONDS, 2 * max((*limits, *calls), default=0.0))

    def warn(self, *words: str) -> None:
        """Add to the warnings what is not among them: a step that is tried again repeats itself."""
        with self._lock:
            self.warnings += [new for new in words if new not in self.warnings]

    def stop(self) -> None:
        """Begin no new call; replies in flight are still recorded. From any thread."""
        self.models.stop()

    @property
    def stopping(self) -> bool:
        """Whether the run is being interrupted, or stopped because of a model."""
        return self.models.stopping

    def close(self) -> None:
        """Close models, ledger and loop, and forget the run; may be called twice."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        if _OPEN.get(str(self.folder.path)) is self:
            del _OPEN[str(self.folder.path)]
        try:
            self.loop.run(self.models.close())
        finally:
            self.loop.close()
            self.leases.close()
            self._folder_lock.release()


_OPEN: dict[str, Run] = {}


def open_run(
    plan: Plan, rows: dict[str, Rows], secrets: Mapping[str, str] = MappingProxyType({})
) -> Run:
    """Open a run in this process; the steps find it by `str(plan.run_dir)`.

    Raises:
        DefinitionError: somebody is working on the run.
        StoreError: the store can't be used.
    """
    lock = RunLock(RunFolder(plan.run_dir))
    try:
        plan.run_dir.mkdir(parents=True, exist_ok=True)
        lock.take()
    except OSError as error:
        raise StoreError(
            f"can't make the run's folder: {error.strerror}",
            where=str(plan.run_dir),
            fix="choose another store with --out",
        ) from None
    try:
        run = Run(plan, rows, secrets, lock)
    except BaseException:
        lock.release()
        raise
    _OPEN[str(plan.run_dir)] = run
    return run


def find_open_run(run_dir: str) -> Run:
    """Return the open run whose folder this is.

    Raises:
        StoreError: no such run is open in this process.
    """
    run = _OPEN.get(run_dir)
    if run is None:
        raise StoreError(
            "the run is not open in this process",
            where=run_dir,
            fix=f"continue it with: evalmill run --resume {Path(run_dir).name}",
        )
    return run


def _policy(plan: Plan) -> CachePolicy:
    """What the ledger may answer: a resumed run always finds its own calls."""
    policy: CachePolicy = plan.evaluation.cache_policy
    return "update" if plan.settings.resume and policy == "no-cache" else policy
