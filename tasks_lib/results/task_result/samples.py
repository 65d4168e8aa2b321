"""The samples of a task result log: the rows of a run, each with all its trials."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from tasks_lib.results.result_part import ResultPart
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import ScoreRecord
from tasks_lib.scorers import Scorer

OWN_KEY = "evalmill"
"""Key of what the form has no place for; other readers of logs pass over it."""

OWN_COLUMNS = (
    "status",
    "finish_reason",
    "calls",
    "ledger_hits",
    "input_tokens",
    "output_tokens",
    "cost_usd",
    "started_at",
    "duration_s",
)
"""Columns of a row that a trial keeps under `OWN_KEY`."""

Scored = Mapping[str, ScoreRecord]
"""Scorer -> what it says of one row."""

Scorers = Mapping[str, Scorer | None]
"""Scorer's key -> the scorer; None where only its scores are known."""


def sample_evidence(
    part: ResultPart, scorers: Scorers, *, solved: bool, several: bool
) -> Iterator[dict[str, Any]]:
    """Yield the evidence of every sample and row of a part, in order.

    What is stored as JSON text stays text, as `orjson.Fragment`.

    Args:
        part: rows of one run of the samples, or of all their trials.
        scorers: the task's scorers by key.
        solved: whether the task has a solver, so that there are outputs.
        several: whether there are trials, whose aggregates stand beside them.
    """
    scores: defaultdict[tuple[int, int, int | None], dict[str, ScoreRecord]] = defaultdict(dict)
    for key, found in part.scores.items():
        for score in found:
            scores[score.place][key] = score
    rows: dict[tuple[int, int], list[SampleRecord]] = {}
    for record in part.records:
        rows.setdefault((record.sample_index, record.row), []).append(record)
    for index, row in sorted(rows):
        records = rows[index, row]
        aggregates = scores[index, row, None] if several else {}
        trials = [
            _trial(record, number, scores[index, row, record.trial], scorers, solved)
            for number, record in _numbered(records, several)
        ]
        first = next(iter(aggregates.values()), records[0])
        own = aggregates if several else scores[index, row, records[0].trial]
        yield {
            "sample_id": first.sample_id,
            "sample": {"data": orjson.Fragment(records[0].sample)} if several else None,
            "solver": None,
            "scores": _scores(aggregates, scorers) if several else None,
            "action_records": _actions(own),
            "errors": [*_score_errors(aggregates), *_all_errors(trials)],
            "trials": trials,
            OWN_KEY: {"sample_index": index, "row": row},
        }


def _numbered(records: list[SampleRecord], several: bool) -> list[tuple[int, SampleRecord]]:
    """Each trial's number and row; a run of the samples is no trial."""
    return [(record.trial if several else 0, record) for record in records]


def _trial(
    record: SampleRecord, number: int, scored: Scored, scorers: Scorers, solved: bool
) -> dict[str, Any]:
    ok = record.status == "ok"
    return {
        "index": number,
        "sample_id": record.sample_id,
        "sample": {"data": orjson.Fragment(record.sample)},
        "solver": {"output": _output(record)} if ok and solved else None,
        "scores": _scores(scored, scorers),
        "errors": _score_errors(scored) if ok else [_solver_error(record)],
        OWN_KEY: {name: getattr(record, name) for name in OWN_COLUMNS},
    }


def _output(record: SampleRecord) -> dict[str, Any]:
    return {
        "trace": orjson.Fragment(record.trace),
        "raw_outputs": orjson.Fragment(record.raw_outputs),
        "direct_ios": [],
    }


def _scores(scored: Scored, scorers: Scorers) -> list[dict[str, Any]]:
    return [
        _score(key, score, scorers[key]) for key, score in scored.items() if score.status == "ok"
    ]


def _score(key: str, score: ScoreRecord, scorer: Scorer | None) -> dict[str, Any]:
    return {
        "scorer_key": key,
        "scorer_purpose": scorer.purpose if scorer else "score",
        "scorer_name": scorer.display_name if scorer else None,
        "values": with_constants(score.values),
        "metadata": None if score.metadata is None else orjson.Fragment(score.metadata),
        "direct_ios": [],
    }


def with_constants(value: Any) -> orjson.Fragment:
    """Return a value whose numbers that are not finite are written as bare constants."""
    return orjson.Fragment(json.dumps(value, separators=(",", ":")))


def _actions(scored: Scored) -> list[dict[str, str]]:
    rules = dict.fromkeys(rule for score in scored.values() for rule in score.action_rules)
    return [{"action": "exclude_from_metrics", "rule_key": rule} for rule in rules]


def _score_errors(scored: Scored) -> list[dict[str, Any]]:
    return [
        error(score.error_class or "", score.error_message or "", "score") | {"scorer_key": key}
        for key, score in scored.items()
        if score.status != "ok"
    ]


def _solver_error(record: SampleRecord) -> dict[str, Any]:
    stage = record.error_stage or "solver"
    return error(record.error_class or record.status, record.error_message or record.status, stage)


def _all_errors(trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [error for trial in trials for error in trial["errors"]]


def error(kind: str, message: str, stage: str) -> dict[str, Any]:
    """Return a `TaskResultError`; our messages hold the advice, where there is any."""
    return {"error_type": kind, "message": message, "hint": None, "stage": stage}
