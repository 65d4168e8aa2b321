"""What a row of an author's scorer costs: called bare, within limits, in a process of its own."""

import time
from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from tasks_lib.scorers.python import PythonScorer
from tasks_lib.scorers.score import Row
from tasks_lib.snippets import load_snippet
from tasks_lib.trace import SolverTrace, Trace, message_item
from tests.benchmarks.workbench import Result, Workbench

_ROWS = 2000
_SOURCE = """
def compute_scores(sample, solver_output):
    return {"short": len(solver_output.trace.get_last_assistant_text()) < sample["most"]}
"""


def measure(bench: Workbench) -> Iterator[Result]:
    """Score rows of two sizes in this process."""
    snippet = load_snippet(_SOURCE, "compute_scores")
    thread = PythonScorer(metrics=(), compute_scores_snippet=_SOURCE)
    process = PythonScorer(metrics=(), compute_scores_snippet=_SOURCE, isolation="process")
    for words in (20, 2000):
        rows = _rows(words)
        process.score_each(rows[:20])  # its processes are there
        bare, limited, isolated = (
            median(_microseconds(work, rows) for _ in range(bench.repeats))
            for work in (
                lambda rows: [snippet(dict(row.sample), row.shown_output) for row in rows],
                thread.score_each,
                process.score_each,
            )
        )
        said = f"A row of {words} words, snippet"
        yield Result(f"{said} within limits", limited, "us", "<= 20 us", bare, "the bare call")
        yield Result(f"{said} in a process", isolated, "us", "<= 1000 us", bare, "the bare call")


def _rows(words: int) -> list[Row]:
    text = "word " * words
    items = [message_item("user", text), message_item("assistant", text)]
    raw = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    output = SolverTrace(Trace.from_items(items), [raw])
    return [Row({"question": text, "most": 100}, output) for _ in range(_ROWS)]


def _microseconds(work: Callable[[list[Row]], Any], rows: list[Row]) -> float:
    began = time.perf_counter()
    work(rows)
    return (time.perf_counter() - began) / len(rows) * 1e6
