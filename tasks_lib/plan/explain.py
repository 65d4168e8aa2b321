"""What a plan means, for people who want to know before they pay."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.plan.estimate import Estimate, estimates, summed_usd, tokens_of
from tasks_lib.plan.plan import Plan
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.samples import Sample
from tasks_lib.solvers.base import BaseSolver
from tasks_lib.solvers.call_range import ONE_CALL, CallRange, CallRanges, summed
from tasks_lib.sources import Rows

PROBED_SAMPLES = 50
"""Rendered to estimate the tokens of all."""


def explain(plan: Plan, rows: Mapping[str, Rows], show: int) -> dict[str, Any]:
    """Return what the plan will do, as JSON values.

    Args:
        plan: the plan.
        rows: the selected rows of each specification.
        show: how many samples' model inputs to include.
    """
    specs = [_explain_spec(plan, spec, rows[spec.key], show) for spec in plan.evaluation.specs]
    found = [one for _, costs in specs for one in costs]
    return {
        "evaluation": plan.evaluation.key,
        "samples": plan.n_samples,
        "batches_at_once": plan.batches_at_once,
        "store": str(plan.settings.store),
        "cache": plan.evaluation.cache_policy,
        "specs": [said for said, _ in specs],
        "estimated_cost_usd": summed_usd(found),
        "unpriced": sorted({one.model for one in found} - plan.prices.keys()),
        "prices": {key: known.source for key, known in plan.prices.items()},
        "warnings": list(plan.evaluation.warnings),
    }


def _explain_spec(
    plan: Plan, spec: ResolvedSpec, rows: Rows, show: int
) -> tuple[dict[str, Any], list[Estimate]]:
    part = plan.spec(spec.key)
    scorers = spec.task.definition.scorers
    solver = spec.task.definition.solver if spec.log is None else None
    attempts = part.n_samples * spec.repeats
    of_solver = solver.calls(spec.model_key or "") if solver is not None else {}
    of_scorers = [scorer.calls() for scorer in scorers] if spec.log is None else []
    per_sample = summed([of_solver, *of_scorers])
    probe = rows.read(0, max(show, PROBED_SAMPLES if per_sample else 0))
    inputs = [_first_input(solver, sample) for sample in probe]
    seen = [(sample, built.get("input")) for sample, built in zip(probe, inputs, strict=True)]
    costs = estimates(plan, spec, seen, attempts) if per_sample else []
    explained = {
        "key": spec.key,
        "task": spec.task.key,
        "model": spec.model_key,
        "datasets": {name: dataset.key for name, dataset in spec.datasets.items()},
        "config": dict(spec.config),
        "samples": part.n_samples,
        "trials": spec.num_trials,
        "runs": spec.num_runs,
        "calls": {key: _times(calls, attempts) for key, calls in per_sample.items()},
        "concurrency": part.concurrency,
        "batches": len(part.batches),
        "batch_size": max((stop - start for start, stop in part.batches), default=0),
        "estimated_input_tokens": _tokens(inputs, attempts),
        "estimate_covers": _covered(inputs, per_sample),
        "scorers": list(spec.scorers),
        "prompts": inputs[:show],
        "costs": [one.as_json() for one in costs],
    }
    return explained, costs


def _times(calls: CallRange, attempts: int) -> dict[str, int | None]:
    """Calls of all samples and trials: at least unless samples fail, and at most."""
    whole = calls.times(attempts, attempts)
    return {"least": whole.least, "most": whole.most}


def _first_input(solver: BaseSolver | None, sample: Sample) -> dict[str, Any]:
    """What is sent first for a sample, why it can't be built, or the sample itself."""
    try:
        first = solver.first_input(sample) if solver is not None else None
    except SampleError as error:
        return {"sample_id": sample.id, "error": str(error)}
    if first is None:
        return {"sample_id": sample.id, "sample": sample.data}
    return {"sample_id": sample.id, "input": first}


def _tokens(inputs: list[dict[str, Any]], attempts: int) -> int:
    """Estimated prompt tokens of the first call of each attempt, from the mean of those built."""
    sizes = [tokens_of(built["input"]) for built in inputs if "input" in built]
    return round(sum(sizes) / len(sizes) * attempts) if sizes else 0


def _covered(inputs: list[dict[str, Any]], per_sample: CallRanges) -> str | None:
    """What the estimated tokens count: `all calls`, the `first calls`, or nothing."""
    if not any("input" in built for built in inputs):
        return None
    return "all calls" if list(per_sample.values()) == [ONE_CALL] else "first calls"
