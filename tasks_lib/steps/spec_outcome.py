"""How the rows of a specification ended, each in one state."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from tasks_lib.jsontext import loads
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.runs.verdict import SpecOutcome
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.steps.sample_totals import USAGE, SampleTotals

if TYPE_CHECKING:
    import pyarrow as pa


def counting_rows(spec: ResolvedSpec, scores: "pa.Table") -> "pa.Table":
    """Return the score rows that metrics are made of: with trials, the aggregates alone."""
    import pyarrow.compute as pc

    if spec.num_trials == 1:
        return scores
    return scores.filter(pc.is_null(scores.column("trial")))


def trial_rows(spec: ResolvedSpec, scores: "pa.Table") -> "pa.Table":
    """Return the score rows that stand for one trial each, in the order of the samples table."""
    import pyarrow.compute as pc

    if spec.num_trials == 1:
        return scores
    return scores.filter(pc.is_valid(scores.column("trial")))


def spec_outcome(
    spec: ResolvedSpec, samples: SampleTotals, scores: Mapping[str, "pa.Table"]
) -> SpecOutcome:
    """Return how the rows ended, each in one state; with trials, a row is that of one trial.

    A trial shares the end of the aggregate it belongs to: when that failed, or is excluded,
    nothing of the trial is in any metric.

    Args:
        spec: the specification.
        samples: what `read_totals` returned.
        scores: the scores of every scorer.
    """
    import numpy as np
    import pyarrow.compute as pc

    failed, skipped = samples.ended("error"), samples.ended("skipped")
    excluded = np.zeros(len(failed), dtype=bool)
    for table in scores.values():
        rows = trial_rows(spec, table)
        failed = failed | pc.equal(rows.column("status"), "error").to_numpy()
        skipped = skipped | pc.equal(rows.column("status"), "skipped").to_numpy()
        if spec.num_trials == 1:
            excluded = excluded | rows.column("excluded").to_numpy()
        else:
            aggregates = counting_rows(spec, table)
            for ends, end in ((failed, "error"), (skipped, "skipped")):
                with_it = pc.equal(aggregates.column("status"), end)
                ends |= _among(rows, aggregates.filter(with_it))
            excluded = excluded | _among(rows, aggregates.filter(aggregates.column("excluded")))
    total = Counter({name: samples.usage[name] for name in USAGE})
    cost = samples.cost_usd
    for key, scorer in spec.scorers.items():
        if isinstance(scorer, ModelScorer):
            for usage in _usages(trial_rows(spec, scores[key])):
                total.update({name: usage[name] for name in USAGE})
                asked = usage.get("cost_usd")
                cost = None if cost is None or asked is None else cost + asked
    return SpecOutcome(
        key=spec.key,
        n_rows=len(failed),
        n_error=int(failed.sum()),
        n_excluded=int((excluded & ~failed & ~skipped).sum()),
        n_skipped=int((skipped & ~failed).sum()),
        cost_usd=cost,
        **total,
    )


def _usages(scores: "pa.Table") -> Iterator[Mapping[str, Any]]:
    """What the calls of a scorer came to row by row, those of its failed rows included."""
    for metadata in scores.column("metadata").to_pylist():
        usage = loads(metadata).get("usage") if metadata is not None else None
        if usage:
            yield usage


def _among(rows: "pa.Table", places: "pa.Table") -> Any:
    """Which rows have the sample and row of one of `places`; a numpy mask."""
    import numpy as np

    def place(table: "pa.Table") -> Any:
        index = table.column("sample_index").to_numpy()
        return index.astype(np.int64) << 32 | table.column("row").to_numpy().astype(np.int64)

    return np.isin(place(rows), place(places))
