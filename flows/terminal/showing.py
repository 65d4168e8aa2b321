"""What `evalmill show` shows of a stored run."""

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from flows.terminal.telling import show_command, tell_failures, tell_notes, tell_warnings
from tasks_lib.errors import StoreError
from tasks_lib.jsontext import dumps, loads
from tasks_lib.plan.prices import usd
from tasks_lib.report.endings import ending
from tasks_lib.report.listing import Listing
from tasks_lib.report.tables import listing_table, metrics_table, reasons
from tasks_lib.report.text import printable
from tasks_lib.report.trace_text import trace_lines
from tasks_lib.results.folder import parts
from tasks_lib.results.load import StoredRun
from tasks_lib.results.parquet import read_table
from tasks_lib.results.schemas import SCORE_COLUMNS
from tasks_lib.results.scores import score_name


def show_metrics(stored: StoredRun, *, json: bool, verbose: bool) -> None:
    """Print the metrics of a run, and how it ended.

    Raises:
        StoreError: it has none yet.
    """
    stored.metrics()
    metrics = read_table(stored.folder.metrics).to_pylist()
    record = stored.record
    if json:
        print(dumps({**record, "metrics": metrics}))
        return
    Console(width=None if sys.stdout.isatty() else 140).print(metrics_table(metrics))
    for spec in record["specs"]:
        for note in _repeats(spec):
            print(f"note: {printable(note)}", file=sys.stderr)
    tell_notes(reasons(metrics), verbose)
    if any(spec["n_error"] for spec in record["specs"]):
        tell_failures(stored, verbose)
    tell_warnings(record["warnings"])
    print(
        f"{ending(record['status'], record['exit_code'])}: run {record['run_id']}", file=sys.stderr
    )


def show_listing(stored: StoredRun, listing: Listing, what: str, *, json: bool) -> None:
    """Print some rows of a run, and what they have in common, such as `failed`."""
    if json:
        print(dumps({"run_id": stored.folder.run_id, **listing.document()}))
    elif listing.rows:
        Console(width=None if sys.stdout.isatty() else 160).print(listing_table(listing.rows))
    shown, total = len(listing.rows), listing.total
    more = f", listed are the first {shown:,}, more with -n" if shown < total else ""
    look = f"; look at one with: {show_command(stored, 'SAMPLE')}" if total else ""
    rows = "row" if total == 1 else "rows"
    print(f"{total:,} {rows} {what}{more}{look}", file=sys.stderr)


def _repeats(spec: Mapping[str, Any]) -> Iterator[str]:
    """What the counts of a specification's metrics stand for, when samples are solved often."""
    if spec["num_trials"] > 1:
        yield (
            f"{spec['key']}: {spec['num_trials']} trials of each of {spec['n_samples']:,} samples; "
            "metrics count samples, their scores are averaged over trials"
        )
    if spec["num_runs"] > 1:
        yield f"{spec['key']}: {spec['num_runs']} runs of the same {spec['n_samples']:,} samples"


def sample_document(stored: StoredRun, sample_id: str) -> dict[str, Any]:
    """Return everything stored of one sample, of every specification, trial and row.

    Args:
        stored: the run.
        sample_id: the id of a sample, or of one of the rows that were made of it.

    Raises:
        StoreError: the run has no such sample.
    """
    rows = []
    aggregates = []
    for spec_key in stored.spec_keys:
        aggregates += _aggregates(stored, spec_key, sample_id)
        for part in parts(stored.folder.samples(spec_key)):
            for row in _rows_of(part, sample_id):
                row["sample"] = loads(row["sample"])
                row["trace"] = loads(row["trace"])
                row["raw_outputs"] = loads(row["raw_outputs"])
                row["started_at"] = str(row["started_at"])
                row["scores"] = _scores(stored, spec_key, part.name, row)
                rows.append(row)
    if not rows:
        raise StoreError(
            f"run '{stored.folder.run_id}' has no sample '{sample_id}'",
            fix="sample ids are the dataset's sample_id column, else row numbers from 0",
        )
    return {
        "run_id": stored.folder.run_id,
        "sample_id": sample_id,
        "rows": rows,
        "aggregates": aggregates,
    }


def _aggregates(stored: StoredRun, spec_key: str, sample_id: str) -> list[dict[str, Any]]:
    """What a sample's scores come to over its trials; nothing without trials."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for key in stored.scorer_keys(spec_key):
        for part in parts(stored.folder.scores(spec_key, key)):
            for row in _rows_of(part, sample_id):
                if row["trial"] is None:
                    place = row["sample_id"], row["row"]
                    found.setdefault(place, {})[key] = _score(row)
    return [
        {"spec_key": spec_key, "sample_id": row_id, "row": row, "scores": scores}
        for (row_id, row), scores in found.items()
    ]


def _scores(
    stored: StoredRun, spec_key: str, part_name: str, row: Mapping[str, Any]
) -> dict[str, Any]:
    scores = {}
    for key in stored.scorer_keys(spec_key):
        for part in parts(stored.folder.scores(spec_key, key)):
            if part.name == part_name or part_name not in {
                p.name for p in parts(stored.folder.scores(spec_key, key))
            }:
                for found in _rows_of(part, row["sample_id"]):
                    if (found["trial"], found["row"]) == (row["trial"], row["row"]):
                        scores[key] = _score(found)
    return scores


def _rows_of(part: Path, sample_id: str) -> list[dict[str, Any]]:
    import pyarrow.compute as pc

    table = read_table(part)
    ids = table.column("sample_id")
    may_be = pc.or_(pc.equal(ids, sample_id), pc.starts_with(ids, f"{sample_id}#"))
    rows: list[dict[str, Any]] = table.filter(may_be).to_pylist()
    return [row for row in rows if row["sample_id"] in (sample_id, f"{sample_id}#{row['row']}")]


def _score(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "status": row["status"],
        "error": row["error_message"],
        "excluded": row["excluded"],
        "values": {
            score_name(name): value for name, value in row.items() if name not in SCORE_COLUMNS
        },
        "metadata": loads(row["metadata"]) if row["metadata"] else None,
    }


def sample_text(document: Mapping[str, Any]) -> str:
    """Return a sample's rows as text: conversation, scores, errors."""
    lines = [line for row in document["rows"] for line in _row_lines(row)]
    for aggregate in document["aggregates"]:
        lines.append(
            f"{aggregate['spec_key']}  sample {printable(aggregate['sample_id'])}  all trials"
        )
        lines += _score_lines(aggregate["scores"])
    return "\n".join(lines)


def _row_lines(row: Mapping[str, Any]) -> Iterator[str]:
    yield f"{row['spec_key']}  sample {printable(row['sample_id'])}  trial {row['trial']}"
    for name, value in row["sample"].items():
        shown = value if isinstance(value, str) else dumps(value)
        yield f"  {printable(name)}: {_short(shown)}"
    yield ""
    yield from (f"  {line}" for line in trace_lines(row["trace"]))
    if row["status"] == "skipped":
        yield "  skipped: the budget did not allow another call"
    if row["error_message"]:
        yield f"  error ({row['error_class']}): {printable(row['error_message'])}"
    finish = f", finish reason {row['finish_reason']}" if row["finish_reason"] else ""
    yield (
        f"  {row['calls']} calls ({row['ledger_hits']} from the ledger), "
        f"{row['input_tokens']} + {row['output_tokens']} tokens{_cost(row['cost_usd'])}, "
        f"{row['duration_s']:.2f} s{finish}"
    )
    yield from _score_lines(row["scores"])
    yield ""


def _score_lines(scores: Mapping[str, Any]) -> Iterator[str]:
    for key, score in scores.items():
        if score["status"] == "error":
            yield f"  {key}: error: {printable(score['error'] or '')}"
            continue
        if score["status"] == "skipped":
            yield f"  {key}: skipped"
            continue
        known = {name: value for name, value in score["values"].items() if value is not None}
        values = ", ".join(f"{name} = {_short(str(v))}" for name, v in known.items())
        yield f"  {key}: {values}{' (excluded)' if score['excluded'] else ''}"
        for name, value in (score["metadata"] or {}).items():
            shown = value if isinstance(value, str) else dumps(value)
            yield f"    {printable(name)}: {_short(shown)}"


def _cost(amount: float | None) -> str:
    return f", {usd(amount)}" if amount else ""


def _short(text: str) -> str:
    text = printable(text).replace("\n", "\\n")
    return text if len(text) <= 200 else text[:199] + "…"
