"""How the rows of a specification ended, and what must be said of their replies."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.jsontext import loads
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.folder import parts
from tasks_lib.results.parquet import read_table
from tasks_lib.runs.verdict import SpecOutcome
from tasks_lib.scorers.base import ModelScorer
from tasks_lib.scorers.no_answer import no_answer
from tasks_lib.trace import SolverTrace, Trace

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


@dataclass
class SampleEnds:
    """How the samples of a specification went; of each row no more than its status is held.

    Attributes:
        status: of every row, part by part.
        n_replied: rows that stand for a reply of the evaluated model.
        n_cut: of these, replies that ended at the token limit.
        n_uncounted: of these, replies of a chat API that say nothing of their tokens.
        no_answer: of these, how many show no answer, by the reason.
        usage: what the calls came to.
        cost_usd: their price; None when that of some is not known.
    """

    status: list["pa.ChunkedArray"] = field(default_factory=list)
    n_replied: int = 0
    n_cut: int = 0
    n_uncounted: int = 0
    no_answer: Counter[str] = field(default_factory=Counter)
    usage: Counter[str] = field(default_factory=Counter)
    cost_usd: float | None = 0.0

    def add(self, part: Path) -> None:
        """Count the rows of a part."""
        import numpy as np
        import pyarrow.compute as pc

        columns = ["row", "status", "finish_reason", "output_text", *_USAGE, "cost_usd"]
        table = read_table(part, columns)
        replied = _replied(table)
        reason = table.column("finish_reason")
        numbers = {name: table.column(name).to_numpy() for name in _USAGE}
        tokens = numbers["input_tokens"] + numbers["output_tokens"]
        made = replied & pc.is_valid(reason).to_numpy() & (numbers["calls"] > 0)
        cut = pc.fill_null(pc.equal(reason, "length"), False).to_numpy()
        self.status.append(table.column("status"))
        self.n_replied += int(replied.sum())
        self.n_cut += int((replied & cut).sum())
        self.n_uncounted += int(np.count_nonzero(made & (tokens == 0)))
        self.usage.update({name: int(values.sum()) for name, values in numbers.items()})
        silent = _silent(table, replied)
        if silent.any():
            self.no_answer.update(_reasons(part, silent))
        cost = table.column("cost_usd")
        known = self.cost_usd is not None and not cost.null_count
        self.cost_usd = (self.cost_usd or 0.0) + (pc.sum(cost).as_py() or 0.0) if known else None

    def ended(self, status: str) -> Any:
        """Which rows ended so; a numpy mask."""
        import numpy as np
        import pyarrow.compute as pc

        masks = [pc.equal(column, status).to_numpy() for column in self.status]
        return np.concatenate(masks) if masks else np.zeros(0, dtype=bool)


def read_ends(folder: Path) -> SampleEnds:
    """Return how a specification's samples went."""
    ends = SampleEnds()
    for part in parts(folder):
        ends.add(part)
    return ends


def outcome_of(
    spec: ResolvedSpec, samples: SampleEnds, scores: Mapping[str, "pa.Table"]
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

    failed, skipped = samples.ended("error"), samples.ended("skipped")
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
    total = Counter({name: samples.usage[name] for name in _USAGE})
    cost = samples.cost_usd
    for key, scorer in spec.scorers.items():
        if isinstance(scorer, ModelScorer):
            for usage in _usages(trial_rows(spec, scores[key])):
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


def reply_warnings(spec_key: str, samples: SampleEnds) -> list[str]:
    """Return what a reader must know of the replies before believing the metrics."""
    total = samples.n_replied
    warnings = []
    if samples.n_cut:
        warnings.append(
            f"{spec_key}: {samples.n_cut} of {total} replies truncated at the token limit; "
            "they are scored as they are"
        )
    if samples.n_uncounted:
        warnings.append(
            f"{spec_key}: {samples.n_uncounted} of {total} replies state no token counts; "
            "they count as 0"
        )
    reasons = samples.no_answer
    if reasons:
        words = ", ".join(f"{n} {_REASON_WORDS[reason]}" for reason, n in sorted(reasons.items()))
        silent = reasons.total()
        loud = "MOST REPLIES SHOW NO ANSWER: " if silent * 2 > total else ""
        warnings.append(f"{spec_key}: {loud}{silent} of {total} replies show no answer ({words})")
    return warnings


def _replied(table: "pa.Table") -> Any:
    """Which rows stand for a reply of the evaluated model, made now or when it was recorded.

    Of the rows that a postprocessor made of one sample, the first.
    """
    import pyarrow.compute as pc

    called = pc.or_(
        pc.greater(table.column("calls"), 0), pc.is_valid(table.column("finish_reason"))
    )
    return pc.and_(called, pc.equal(table.column("row"), 0)).to_numpy()


def _silent(table: "pa.Table", replied: Any) -> Any:
    """Which replies were solved and show no text; a numpy mask."""
    import pyarrow.compute as pc

    text = pc.fill_null(table.column("output_text"), "")
    blank = pc.equal(pc.utf8_length(pc.utf8_trim_whitespace(text)), 0)
    solved = pc.equal(table.column("status"), "ok")
    return pc.and_(blank, solved).to_numpy() & replied


def _reasons(part: Path, silent: Any) -> Iterator[str]:
    """Why silent replies show no answer; some have what scorers take for one."""
    outputs = read_table(part, ["raw_outputs"]).column("raw_outputs").filter(silent)
    for text in outputs.to_pylist():
        reason = no_answer(SolverTrace(Trace.from_items([]), loads(text)))
        if reason is not None:
            yield reason
