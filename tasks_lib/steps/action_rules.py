"""Applying a task's action rules to the scores of all its scorers."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tasks_lib.actions import ActionRule, matching_rules
from tasks_lib.errors import SampleError
from tasks_lib.jsontext import loads
from tasks_lib.resolve import ResolvedSpec
from tasks_lib.results.error_text import error_text
from tasks_lib.results.parquet import read_table, write_table
from tasks_lib.results.samples import read_samples
from tasks_lib.results.schemas import Place, SampleRecord
from tasks_lib.results.score_records import score_records
from tasks_lib.runs.batch import Batch, batches
from tasks_lib.runs.run import Run
from tasks_lib.steps.outcomes import scorer_rows

if TYPE_CHECKING:
    import pyarrow as pa

Failures = dict[str, tuple[int, str]]
"""Rule -> how many rows it failed on, and the words of the first."""


def apply_rules(run: Run, spec_key: str) -> None:
    """Mark the rows that rules leave out of the metrics, in the scores of every scorer.

    With trials, rules look at the aggregated scores, and `solver_output` is not defined.
    A rule that fails on a row leaves it in and is told in the run's warnings.

    Raises:
        StoreError: a part can't be read or written.
    """
    rules = run.spec(spec_key).task.definition.actions or ()
    failures: Failures = {}
    for batch in batches(run, spec_key):
        _rule_batch(batch, rules, failures)
    for key, (count, words) in failures.items():
        rows = "1 row" if count == 1 else f"{count} rows"
        run.warn(f"{spec_key}: rule '{key}' failed on {rows}, which stay in the metrics; {words}")


def _rule_batch(batch: Batch, rules: Sequence[ActionRule], failures: Failures) -> None:
    tables = {key: read_table(batch.scores(key)) for key in batch.spec.scorers}
    scores = {key: score_records(table) for key, table in tables.items()}
    several = batch.spec.num_trials > 1
    seen = _variables(batch.spec, read_samples(batch.samples))
    matched: list[list[str]] = []
    for i, row in enumerate(next(iter(scores.values()))):
        if several and row.trial is not None:
            matched.append([])
            continue
        values = {key: rows[i].values for key, rows in scores.items()}
        variables = {
            **seen[row.place],
            "scores": {key: found for key, found in values.items() if found is not None},
        }
        keys, failed = matching_rules(rules, variables)
        matched.append(keys)
        for key, error in failed:
            _note(failures, key, row.sample_id, error)
    for key, table in tables.items():
        write_table(batch.scores(key), _marked(table, matched))


def _variables(spec: ResolvedSpec, records: Sequence[SampleRecord]) -> dict[Place, dict[str, Any]]:
    """What rules see of each row beside its scores, by sample, row and trial."""
    solver = spec.task.definition.solver
    failed = [record for record in records if record.status != "ok"]
    solved = [record for record in records if record.status == "ok"]
    if spec.num_trials > 1:
        # solved trials show the rows that were made of a sample; they come last and stay
        return {
            (record.sample_index, record.row, None): {"sample": loads(record.sample)}
            for record in [*failed, *reversed(solved)]
        }
    found: dict[Place, dict[str, Any]] = {
        record.place: {"sample": loads(record.sample)} for record in failed
    }
    for record, row in zip(solved, scorer_rows(solved, solver), strict=True):
        output = {} if solver is None else {"solver_output": row.shown_output}
        found[record.place] = {"sample": row.sample, **output}
    return found


def _note(failures: Failures, key: str, sample_id: str, error: SampleError) -> None:
    count, words = failures.get(key, (0, ""))
    words = words or f"sample '{sample_id}': {error_text(error)}"
    failures[key] = (count + 1, words)


def _marked(table: "pa.Table", matched: Sequence[list[str]]) -> "pa.Table":
    import pyarrow as pa

    for name, values in (
        ("excluded", [bool(keys) for keys in matched]),
        ("action_rules", list(matched)),
    ):
        index = table.schema.get_field_index(name)
        field = table.schema.field(index)
        table = table.set_column(index, field, pa.array(values, field.type))
    return table
