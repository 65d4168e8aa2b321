"""What the samples of a specification came to in all, and what must be said of their replies."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tasks_lib.jsontext import loads
from tasks_lib.results.folder import parts
from tasks_lib.results.parquet import read_table
from tasks_lib.scorers.no_answer import no_answer
from tasks_lib.trace import SolverTrace, Trace

if TYPE_CHECKING:
    import pyarrow as pa

USAGE = ("calls", "ledger_hits", "input_tokens", "output_tokens")
"""Columns of samples that are summed up; a judge's usage has them too."""

_REASON_WORDS = {
    "empty": "empty",
    "refusal": "refused",
    "truncated": "truncated with no answer",
    "reasoning_only": "with reasoning only",
}


@dataclass
class SampleTotals:
    """What samples came to; of each row no more than its status is held.

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

        columns = ["row", "status", "finish_reason", "output_text", *USAGE, "cost_usd"]
        table = read_table(part, columns)
        replied = _replied(table)
        reason = table.column("finish_reason")
        numbers = {name: table.column(name).to_numpy() for name in USAGE}
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


def read_totals(folder: Path) -> SampleTotals:
    """Return what a specification's samples came to.

    Args:
        folder: of its sample parts.
    """
    totals = SampleTotals()
    for part in parts(folder):
        totals.add(part)
    return totals


def reply_warnings(spec_key: str, samples: SampleTotals) -> list[str]:
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
