"""What a plan means, for people who want to know before they pay."""

from collections.abc import Mapping
from typing import Any

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import dumps
from tasks_lib.plan import Plan
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.samples import Sample
from tasks_lib.solvers.single_turn import SingleTurnSolver
from tasks_lib.sources import Rows

CHARACTERS_PER_TOKEN = 4.0
PROBED_SAMPLES = 50
"""Rendered to estimate the tokens of all."""


def explain(plan: Plan, rows: Mapping[str, Rows], show: int) -> dict[str, Any]:
    """Return what the plan will do, as JSON values.

    Args:
        plan: the plan.
        rows: the selected rows of each specification.
        show: how many samples' model inputs to include.
    """
    return {
        "evaluation": plan.evaluation.key,
        "samples": plan.n_samples,
        "batches_at_once": plan.batches_at_once,
        "store": str(plan.settings.store),
        "cache": plan.evaluation.cache_policy,
        "specs": [
            _explain_spec(plan, spec, rows[spec.key], show) for spec in plan.evaluation.specs
        ],
        "warnings": list(plan.evaluation.warnings),
    }


def _explain_spec(plan: Plan, spec: ResolvedSpec, rows: Rows, show: int) -> dict[str, Any]:
    part = plan.spec(spec.key)
    solver = spec.task.definition.solver
    calls = part.n_samples if solver is not None and solver.calls_models else 0
    probe = rows.read(0, max(show, PROBED_SAMPLES if calls else 0))
    inputs = [_model_input(spec, sample) for sample in probe]
    readable = [built for built in inputs if "error" not in built]
    return {
        "key": spec.key,
        "task": spec.task.key,
        "model": spec.model_key,
        "datasets": {name: dataset.key for name, dataset in spec.datasets.items()},
        "config": dict(spec.config),
        "samples": part.n_samples,
        "trials": spec.num_trials,
        "calls": calls,
        "concurrency": part.concurrency,
        "batches": len(part.batches),
        "batch_size": max(stop - start for start, stop in part.batches),
        "estimated_input_tokens": _tokens(readable, calls),
        "scorers": [scorer.key or scorer.type for scorer in spec.task.definition.scorers],
        "prompts": inputs[:show],
    }


def _model_input(spec: ResolvedSpec, sample: Sample) -> dict[str, Any]:
    """What would be sent for a sample, or why it can't be rendered."""
    solver = spec.task.definition.solver
    if not isinstance(solver, SingleTurnSolver):
        return {"sample_id": sample.id, "sample": sample.data}
    try:
        return {"sample_id": sample.id, "input": solver.input_builder.build(sample.data)}
    except SampleError as error:
        return {"sample_id": sample.id, "error": str(error)}


def _tokens(inputs: list[dict[str, Any]], calls: int) -> int:
    """Estimated prompt tokens of all calls, from the mean of the rendered ones."""
    if not inputs or not calls:
        return 0
    characters = sum(len(dumps(built.get("input"))) for built in inputs)
    return round(characters / len(inputs) / CHARACTERS_PER_TOKEN * calls)
