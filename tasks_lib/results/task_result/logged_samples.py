"""The samples of a task result log as rows of a run: solved, scored, and nothing to be called."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from tasks_lib.errors import ERROR_CLASSES
from tasks_lib.jsontext import dumps, storable
from tasks_lib.results.metric_rows import MetricRow
from tasks_lib.results.result_part import ResultPart
from tasks_lib.results.schemas import METRIC_COLUMNS, SampleRecord
from tasks_lib.results.score_records import ScoreRecord, unscored
from tasks_lib.results.task_result.index import LogIndex
from tasks_lib.results.task_result.samples import OWN_COLUMNS, OWN_KEY
from tasks_lib.samples import Sample
from tasks_lib.sources import Rows
from tasks_lib.trace import SolverTrace, Trace
from tasks_lib.trace.legacy import SingleSolverOutput, from_legacy

_CLASS_OF_STAGE = {"solver": "model", "score": "code", "metric": "code", "action": "code"}
_NOTHING = {
    "status": "ok",
    "finish_reason": None,
    "calls": 0,
    "ledger_hits": 0,
    "input_tokens": 0,
    "output_tokens": 0,
    "cost_usd": None,
    "started_at": 0,
    "duration_s": 0.0,
}
assert tuple(_NOTHING) == OWN_COLUMNS

_READ_TOGETHER = 100  # samples

Json = dict[str, Any]


class LoggedSamples(Rows):
    """The samples of a log, with what came of them.

    Args:
        log: the log.
        spec_key: the specification that takes them over.
    """

    def __init__(self, log: LogIndex, spec_key: str) -> None:
        self.columns = ()
        self.log = log
        self._spec_key = spec_key
        self._part = lru_cache(maxsize=4)(self._read_part)

    def __len__(self) -> int:
        return len(self.log)

    def take(self, places: Sequence[int]) -> list[Sample]:
        """Return the samples at `places`, without what was recorded of them."""
        return [
            Sample(sample.get("sample_id") or str(place), place, _data(sample))
            for place in places
            for sample in [_first(self.log.samples(place))]
        ]

    def fingerprint(self) -> str:
        return self.log.digest

    @property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """The samples `[start, stop)` that are best read together."""
        return [
            (i, min(i + _READ_TOGETHER, len(self))) for i in range(0, len(self), _READ_TOGETHER)
        ]

    def part(self, start: int, stop: int) -> ResultPart:
        """Return the rows and the scores of samples `[start, stop)`; no call was made for them.

        Raises:
            DefinitionError: the log changed since it was opened.
        """
        return self._part(start, min(stop, len(self)))

    def metric_rows(self, shared: Mapping[str, Any]) -> list[MetricRow]:
        """Return the log's metrics as rows of the metrics table.

        Of a log that another tool has written only names and values are known.

        Args:
            shared: the columns that name the specification.
        """
        rows = []
        for metric in self.log.evidence.get("metrics") or ():
            base = dict.fromkeys(METRIC_COLUMNS) | dict(shared) | {
                "scorer_key": metric["scorer_key"],
                "purpose": metric.get("scorer_purpose", "score"),
                "metric_key": metric["metric_key"],
                "metric_type": metric["metric_type"],
                "reason": metric.get("reason"),
            }  # fmt: skip
            values = metric.get(OWN_KEY) or [
                {"name": name, "value": value} for name, value in metric["values"].items()
            ]
            rows += [base | value for value in values]
        return rows

    def _read_part(self, start: int, stop: int) -> ResultPart:
        records: list[SampleRecord] = []
        scores: dict[str, list[ScoreRecord]] = {key: [] for key in self.log.scorers}
        aggregates: dict[str, list[ScoreRecord]] = {key: [] for key in self.log.scorers}
        for place in range(start, stop):
            trials = self._trials(place)
            records += (trial.record for trial in trials)
            for trial in trials:
                for key in self.log.scorers:
                    scores[key].append(trial.score(key))
            if self.log.num_trials > 1:
                for row, sample in enumerate(self.log.samples(place)[0][1]):
                    for key in self.log.scorers:
                        aggregates[key].append(_aggregate(key, sample, place, row))
        return ResultPart(records, {key: scores[key] + aggregates[key] for key in scores})

    def _trials(self, place: int) -> list["_Trial"]:
        """The rows of one sample, those of its first trial or run first."""
        found = []
        for run, rows in self.log.samples(place):
            for row, sample in enumerate(rows):
                row = (sample.get(OWN_KEY) or {}).get("row", row)
                shared = sample
                if self.log.num_trials > 1:  # these are then of all trials together
                    shared = {**sample, "errors": [], "action_records": []}
                for number, trial in enumerate(sample.get("trials") or [sample]):
                    number = run or trial.get("index") or number
                    found.append(_Trial(self._spec_key, place, number, row, shared, trial))
        return sorted(found, key=lambda trial: (trial.record.trial, trial.record.row))


class _Trial:
    """One row of a sample in one trial: its record, and what is said of its scores."""

    def __init__(
        self, spec_key: str, place: int, number: int, row: int, sample: Json, trial: Json
    ) -> None:
        self._scores: list[Json] = trial.get("scores") or []
        self._errors: list[Json] = trial.get("errors") or sample.get("errors") or []
        self._rules = _rules(sample)
        own = {**_NOTHING, **(trial.get(OWN_KEY) or {}), "calls": 0, "ledger_hits": 0}
        trouble = next((e for e in self._errors if e["stage"] in ("solver", "dataset")), None)
        output = SolverTrace()
        try:
            output = _output((trial.get("solver") or {}).get("output"))
        except ValueError as error:
            trouble = {"stage": "dataset", "error_type": "data", "message": f"the log: {error}"}
        if trouble is not None and own["status"] == "ok":
            own["status"] = "error"
        text = output.trace.get_last_assistant_text()
        self.record = SampleRecord(
            spec_key=spec_key,
            sample_id=_id(trial.get("sample_id", sample.get("sample_id")), place),
            sample_index=place,
            trial=number,
            row=row,
            sample=dumps(_data(trial) or _data(sample)),
            trace=output.trace.to_json(),
            raw_outputs=dumps(output.raw_outputs_json),
            output_text=None if text is None else storable(text),
            error_stage=trouble["stage"] if trouble else None,
            error_class=_class(trouble) if trouble else None,
            error_message=_message(trouble) if trouble else None,
            **own,
        )

    def score(self, key: str) -> ScoreRecord:
        """Return what the scorer says of this row."""
        record, rules = self.record, self._rules
        if record.status != "ok":
            return replace(unscored(record), excluded=bool(rules), action_rules=rules)
        place = record.sample_id, record.sample_index, record.trial, record.row
        return _score_record(place, key, self._scores, self._errors, rules)


def _aggregate(key: str, sample: Json, index: int, row: int) -> ScoreRecord:
    own = sample.get(OWN_KEY) or {}
    place = _id(sample.get("sample_id"), index), index, None, own.get("row", row)
    scores, errors = sample.get("scores") or [], sample.get("errors") or []
    return _score_record(place, key, scores, errors, _rules(sample))


def _score_record(
    place: tuple[str, int, int | None, int],
    key: str,
    scores: list[Json],
    errors: list[Json],
    rules: list[str],
) -> ScoreRecord:
    """Return what a scorer says; `place` is sample id, sample index, trial and row."""
    record = ScoreRecord(*place, "ok", excluded=bool(rules), action_rules=rules)
    score = next((score for score in scores if score["scorer_key"] == key), None)
    if score is not None:
        record.values = score["values"]
        if score.get("metadata") is not None:
            record.metadata = dumps(score["metadata"])
        return record
    record.status = "error"
    record.error_class, record.error_message = "data", "the log holds no score"
    told = next((error for error in errors if error.get("scorer_key", key) == key), None)
    if told is not None:
        record.error_class, record.error_message = _class(told), _message(told)
    return record


def _rules(sample: Json) -> list[str]:
    return [record["rule_key"] for record in sample.get("action_records") or ()]


def _output(output: Json | None) -> SolverTrace:
    """Return a solver's output in any of its forms as one trace.

    Raises:
        ValueError: it holds no trace.
    """
    if output is None:
        return SolverTrace()
    if "solver_outputs" in output:
        group = output["solver_outputs"]
        parts = [_output(part) for part in (group.values() if isinstance(group, dict) else group)]
        return SolverTrace(
            Trace.from_items([item for part in parts for item in part.trace.raw_items]),
            [raw for part in parts for raw in part.raw_outputs_json],
        )
    if "trace" in output:
        return SolverTrace(Trace.load(output["trace"]), output.get("raw_outputs") or [])
    return from_legacy(SingleSolverOutput.view(output))


def _first(runs: list[tuple[int, list[Json]]]) -> Json:
    return next((row for _, rows in runs for row in rows), {})


def _data(sample: Json) -> Json:
    """The columns of a sample; of one without any of its own, those of its first trial."""
    for holder in (sample, *(sample.get("trials") or ())):
        if holder.get("sample"):
            data: Json = holder["sample"]["data"]
            return data
    return {}


def _id(written: Any, place: int) -> str:
    return str(place) if written is None else storable(str(written))


def _class(error: Json) -> str:
    kind = error["error_type"]
    return kind if kind in ERROR_CLASSES else _CLASS_OF_STAGE.get(error["stage"], "data")


def _message(error: Json) -> str:
    kind, hint = error["error_type"], error.get("hint")
    words = error["message"] if kind in ERROR_CLASSES else f"{kind}: {error['message']}"
    return storable(f"{words}; {hint}" if hint else words)
