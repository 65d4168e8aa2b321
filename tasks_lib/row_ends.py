"""How the rows of a specification ended, and what must be said of their replies."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.jsontext import loads
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.folder import parts
from tasks_lib.results.parts import read_table
from tasks_lib.scorers.answers import no_answer
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.trace import SolverTrace, Trace
from tasks_lib.verdict import SpecOutcome

if TYPE_CHECKING:
    import pyarrow as pa

_USAGE = ("calls", "ledger_hits", "input_tokens", "output_tokens")
_REASON_WORDS = {
    "empty": "empty",
    "refusal": "refused",
    "truncated": "truncated with no answer",
    "reasoning_only": "with reasoning only",
}


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


def read_ends(folder: Path) -> "pa.Table":
    """Return the columns of a specification's samples that say how they went, texts apart."""
    import pyarrow as pa

    columns = [
        "row",
        "status",
        "finish_reason",
        "output_text",
        *_USAGE,
        "cost_usd",
    ]
    tables = []
    for path in parts(folder):
        table = read_table(path, columns)
        table = table.append_column("replied", pa.array(_replied(table)))
        silent = _silent(table)
        if silent.any():
            table = table.append_column("no_answer", _reasons(path, silent))
        else:
            table = table.append_column("no_answer", pa.nulls(len(table), pa.string()))
        tables.append(table.drop_columns(["output_text"]))
    return pa.concat_tables(tables)


def outcome_of(
    spec: ResolvedSpec, samples: "pa.Table", scores: Mapping[str, "pa.Table"]
) -> SpecOutcome:
    """Return how the rows ended, each in one state; with trials, a row is that of one trial.

    A trial shares the end of the aggregate it belongs to: when that failed, or is excluded,
    nothing of the trial is in any metric.

    Args:
        spec: the specification.
        samples: what `read_ends` returned.
        scores: the scores of every scorer.
    """
    import numpy as np
    import pyarrow.compute as pc

    failed = pc.equal(samples.column("status"), "error").to_numpy()
    skipped = pc.equal(samples.column("status"), "skipped").to_numpy()
    n_solver_errors = int(failed.sum())
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
    total = Counter({name: int(pc.sum(samples.column(name)).as_py() or 0) for name in _USAGE})
    cost = _sum_if_known(samples.column("cost_usd"))
    for scorer in spec.task.definition.scorers:
        if isinstance(scorer, ModelScorer):
            for usage in _usages(trial_rows(spec, scores[scorer.key or scorer.type])):
                total.update({name: usage[name] for name in _USAGE})
                asked = usage.get("cost_usd")
                cost = None if cost is None or asked is None else cost + asked
    return SpecOutcome(
        key=spec.key,
        n_rows=len(failed),
        n_error=int(failed.sum()),
        n_solver_errors=n_solver_errors,
        n_excluded=int((excluded & ~failed & ~skipped).sum()),
        n_skipped=int((skipped & ~failed).sum()),
        cost_usd=cost,
        **total,
    )


def _sum_if_known(numbers: "pa.ChunkedArray") -> float | None:
    import pyarrow.compute as pc

    return None if numbers.null_count else float(pc.sum(numbers).as_py() or 0.0)


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


def reply_warnings(spec_key: str, samples: "pa.Table") -> list[str]:
    """Return what a reader must know of the replies before believing the metrics."""
    import pyarrow.compute as pc

    replied = samples
    if not pc.all(samples.column("replied")).as_py():
        replied = samples.filter(samples.column("replied"))
    total = len(replied)
    cut = int(pc.sum(pc.equal(replied.column("finish_reason"), "length")).as_py() or 0)
    warnings = []
    if cut:
        warnings.append(
            f"{spec_key}: {cut} of {total} replies truncated at the token limit; "
            "they are scored as they are"
        )
    if uncounted := _uncounted(replied):
        warnings.append(
            f"{spec_key}: {uncounted} of {total} replies state no token counts; they count as 0"
        )
    counted = pc.value_counts(replied.column("no_answer").combine_chunks().drop_null())
    reasons = {entry["values"]: entry["counts"] for entry in counted.to_pylist()}
    if reasons:
        words = ", ".join(f"{n} {_REASON_WORDS[reason]}" for reason, n in sorted(reasons.items()))
        silent = sum(reasons.values())
        loud = "MOST REPLIES SHOW NO ANSWER: " if silent * 2 > total else ""
        warnings.append(f"{spec_key}: {loud}{silent} of {total} replies show no answer ({words})")
    return warnings


def _uncounted(replied: "pa.Table") -> int:
    """How many replies of the two chat APIs say nothing of their tokens."""
    import numpy as np
    import pyarrow.compute as pc

    tokens = [replied.column(name).to_numpy() for name in ("input_tokens", "output_tokens")]
    made = (replied.column("calls").to_numpy() > 0) & pc.is_valid(
        replied.column("finish_reason")
    ).to_numpy()
    return int(np.count_nonzero(made & (tokens[0] + tokens[1] == 0)))


def _replied(table: "pa.Table") -> Any:
    """Which rows stand for a reply of the evaluated model, made now or when it was recorded.

    Of the rows that a postprocessor made of one sample, the first.
    """
    import pyarrow.compute as pc

    called = pc.or_(
        pc.greater(table.column("calls"), 0), pc.is_valid(table.column("finish_reason"))
    )
    return pc.and_(called, pc.equal(table.column("row"), 0)).to_numpy()


def _silent(table: "pa.Table") -> Any:
    """Which replies were solved and show no text; a numpy mask."""
    import pyarrow.compute as pc

    text = pc.fill_null(table.column("output_text"), "")
    blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0)
    solved = pc.equal(table.column("status"), "ok")
    return pc.and_(pc.and_(blank, solved), table.column("replied")).to_numpy()


def _reasons(path: Path, silent: Any) -> "pa.Array":
    import pyarrow as pa

    outputs = read_table(path, ["raw_outputs"]).column("raw_outputs").to_pylist()
    reasons = [
        no_answer(SolverTrace(Trace.from_items([]), loads(text))) if mute else None
        for text, mute in zip(outputs, silent, strict=True)
    ]
    return pa.array(reasons, pa.string())
