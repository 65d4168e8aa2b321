"""The plan: what one run will do, settled before anything is called."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from pathlib import Path

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.models.service import allowed_concurrency
from tasks_lib.plan.batches import batch_size, cut, fitting_sizes, interleaved
from tasks_lib.plan.gates import check_gates
from tasks_lib.plan.prices import KnownPrice, check_priced, find_prices
from tasks_lib.plan.settings import RunSettings
from tasks_lib.resolve import ResolvedEvaluation, ResolvedSpec
from tasks_lib.results.folder import run_folder
from tasks_lib.solvers.call_range import summed
from tasks_lib.sources import Rows
from tasks_lib.system_tasks import SystemTask

MAX_BATCHES_AT_ONCE = 64
_LARGE = 20  # times the calls in flight


@dataclass(frozen=True)
class SpecPlan:
    """One task specification of a run.

    Attributes:
        key: the specification's key.
        n_samples: samples that will be evaluated.
        batches: their ranges `[start, stop)`.
        concurrency: calls of its model, or else of its judges, in flight at most; 1 without any.
    """

    key: str
    n_samples: int
    batches: tuple[tuple[int, int], ...]
    concurrency: int


@dataclass(frozen=True)
class Plan:
    """What one run will do; holds no samples and no secrets.

    Attributes:
        run_id: the run's id, which is also its folder's name.
        evaluation: what is evaluated.
        specs: the parts, in the evaluation's order.
        settings: how.
        created: when the plan was made.
        prices: by the key of the model; those that are not known are missing.
    """

    run_id: str
    evaluation: ResolvedEvaluation
    specs: tuple[SpecPlan, ...]
    settings: RunSettings
    created: datetime
    prices: Mapping[str, KnownPrice] = field(default_factory=dict)

    @property
    def run_dir(self) -> Path:
        """Folder of the run."""
        return self.settings.store / "runs" / self.run_id

    @property
    def n_samples(self) -> int:
        """Samples of all specifications."""
        return sum(spec.n_samples for spec in self.specs)

    @property
    def batches_at_once(self) -> int:
        """Batches in work at a time: enough that their calls fill the bound, and one more.

        The tail of one batch then overlaps the head of the next.
        """
        wanted = sum(_batches_wanted(spec) for spec in self.specs if spec.batches)
        return max(1, min(wanted, MAX_BATCHES_AT_ONCE, sum(len(s.batches) for s in self.specs)))

    def batches(self) -> Iterator[tuple[str, int, int]]:
        """Yield (specification, start, stop) of all batches in the order they are begun."""
        return interleaved(
            [[(spec.key, start, stop) for start, stop in spec.batches] for spec in self.specs]
        )

    def spec(self, key: str) -> SpecPlan:
        """Return the part with this key."""
        return next(spec for spec in self.specs if spec.key == key)


def _batches_wanted(spec: SpecPlan) -> int:
    largest = max(stop - start for start, stop in spec.batches)
    # a second one covers the tail and the scoring of the first; a third costs memory that
    # large batches don't have to spare, and its tail is the smaller the larger they are
    spare = 1 if largest >= _LARGE * spec.concurrency else 2
    return ceil(spec.concurrency / largest) + spare


def make_plan(
    evaluation: ResolvedEvaluation,
    rows: Mapping[str, Rows],
    settings: RunSettings,
    now: datetime,
    token: str,
    cuts: Mapping[str, tuple[tuple[int, int], ...]] | None = None,
) -> Plan:
    """Return the plan of one run.

    Args:
        evaluation: what to evaluate.
        rows: the selected rows of each specification, by its key.
        settings: how.
        now: the time that the run id begins with, UTC.
        token: six hex digits that make the run id unique.
        cuts: the batches of each specification, when an earlier run has settled them.

    Raises:
        DefinitionErrors: specifications have no samples, no metric can be called as a gate says,
            or a file of prices is wrong.
        DefinitionError: the run id can't be a folder name, or there is a budget and a model
            whose price is not known.
    """
    counts = [len(rows[spec.key]) for spec in evaluation.specs]
    if problems := [
        DefinitionError(
            f"specification '{spec.key}' has no samples", fix="check the dataset and its filters"
        )
        for spec, n in zip(evaluation.specs, counts, strict=True)
        if n == 0 and spec.log is None and not isinstance(spec.task.definition, SystemTask)
    ]:
        raise DefinitionErrors(problems)
    concurrency = [_concurrency(evaluation, spec, settings) for spec in evaluation.specs]
    sizes = [
        settings.batch_size or batch_size(n, allowed)
        for n, allowed in zip(counts, concurrency, strict=True)
    ]
    specs = tuple(
        SpecPlan(spec.key, n, cuts[spec.key] if cuts else cut(n, size), allowed)
        for spec, n, size, allowed in zip(
            evaluation.specs, counts, fitting_sizes(counts, sizes), concurrency, strict=True
        )
    )
    run_id = settings.run_id
    if run_id is None:
        run_id = f"{now:%Y%m%dT%H%M%SZ}-{evaluation.key[:150]}-{token}"
    run_folder(settings.store, run_id)  # refuses an id that can't be a folder's name
    prices = find_prices(evaluation.models, settings.prices)
    check_gates(evaluation, settings.fail_under)
    if settings.budget_usd is not None:
        check_priced(models_to_call(evaluation, settings), prices)
    return Plan(run_id, evaluation, specs, settings, now, prices)


def models_to_call(evaluation: ResolvedEvaluation, settings: RunSettings) -> list[str]:
    """Return the keys of the models that a run may call; none of solvers when it scores again."""
    keys: dict[str, None] = {}
    for spec in evaluation.specs:
        if spec.log is not None:
            continue
        solver = spec.task.definition.solver
        if solver is not None and settings.rescore is None:
            keys.update(dict.fromkeys(solver.calls(spec.model_key or "")))
        for scorer in spec.task.definition.scorers:
            keys.update(dict.fromkeys(scorer.calls()))
    return list(keys)


def _concurrency(evaluation: ResolvedEvaluation, spec: ResolvedSpec, settings: RunSettings) -> int:
    solver = spec.task.definition.solver
    called = solver.calls(spec.model_key or "") if solver is not None else {}
    if not called:  # then scoring may be what takes time
        called = summed(scorer.calls() for scorer in spec.task.definition.scorers)
    # a conversation has one call in flight: where models differ, the limiters settle it
    own = spec.model_key
    keys = [own] if own is not None and own in called else called
    models = [evaluation.models[key] for key in keys]
    return max([1, *(allowed_concurrency(m, settings.max_connections) for m in models)])
