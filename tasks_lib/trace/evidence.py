"""The record of a task's run: scores, metrics, errors, and the log that holds them."""

import json
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

from tasks_lib.trace.fields import Choice, Field, Json, Plain, maybe, plain_map, string
from tasks_lib.trace.grouped import SOLVER_OUTPUT, SolverOutput
from tasks_lib.trace.nested import (
    NestedList,
    RecordList,
    maybe_list,
    maybe_nested,
    nested,
    nested_list,
)
from tasks_lib.trace.plain import raw_of
from tasks_lib.trace.record import Record
from tasks_lib.trace.solver_trace import DirectModelIO

RawSample = dict[str, Any]
"""A dataset row: what templates and snippets call `sample`."""
MetricValues = dict[str, int | float]
"""The values of one metric by name."""


class TaskStage(StrEnum):
    """Where in a task something failed."""

    configuration = "configuration"
    dataset = "dataset"
    solver = "solver"
    score = "score"
    metric = "metric"
    action = "action"


class TokenPurpose(StrEnum):
    """What a model was called for."""

    test = "test"
    judge = "judge"
    generate = "generate"
    auxiliary = "auxiliary"


class SampleScore(Record):
    """What one scorer says of one sample."""

    values = plain_map()
    metadata = maybe(dict)
    direct_ios = nested_list(DirectModelIO, default=list)


class ScoresData(Record):
    """A sample's score with the scorer it comes from."""

    scorer_key = string()
    scorer_purpose = string(default="score")
    scorer_name = maybe(str)
    values = plain_map()
    metadata = maybe(dict)
    direct_ios = nested_list(DirectModelIO, default=list)


class SampleData(Record):
    """A sample's columns."""

    data = plain_map()


class SolverData(Record):
    """What the solver made of a sample."""

    output: Field[SolverOutput] = nested(SOLVER_OUTPUT)


class ActionRecord(Record):
    """An action that a rule took on a sample."""

    action = string()
    rule_key = string()


class TaskResultError(Record):
    """Something that failed, and where."""

    error_type = string()
    message = string()
    hint = maybe(str)
    stage = Choice(TaskStage)


class TaskResultFailures(Record):
    """How many samples failed, out of how many."""

    num_errors: Field[int] = Plain(int)
    num_total: Field[int] = Plain(int)


class SampleTrialEvidence(Record):
    """One trial of a sample."""

    index: Field[int] = Plain(int)
    sample_id = maybe(str)
    sample = maybe_nested(SampleData)
    solver = maybe_nested(SolverData)
    scores = nested_list(ScoresData, default=list)
    errors = nested_list(TaskResultError, default=list)


class SampleEvidence(Record):
    """A sample with all its trials.

    In a task without trials the content is that of `trials[0]`, and `sample`, `solver` and
    `scores` are null here.
    """

    sample_id = maybe(str)
    sample = maybe_nested(SampleData)
    solver = maybe_nested(SolverData)
    scores = maybe_list(ScoresData)
    action_records = nested_list(ActionRecord, default=list)
    errors = nested_list(TaskResultError, default=list)
    trials = nested_list(SampleTrialEvidence, default=list)


class MetricData(Record):
    """The values of one metric of one scorer."""

    values = plain_map()
    metric_key = string()
    metric_type = string()
    scorer_name = maybe(str)
    scorer_key = string()
    scorer_purpose = string(default="score")
    reason = maybe(str)


class _Metrics(NestedList):
    """A list of metrics; a plain map of values, as old logs have it, becomes one metric."""

    def __init__(self) -> None:
        super().__init__(MetricData, default=None)

    def write(self, value: Any, where: str) -> Any:
        if isinstance(value, dict):
            value = [
                {
                    "values": value,
                    "metric_key": "task_metric",
                    "metric_type": "task_metric_type",
                    "scorer_key": "task_scorer",
                }
            ]
        return super().write(value, where)


class ModelTokenUsage(Record):
    """Tokens one model used for one purpose."""

    model_id: Field[int] = Plain(int)
    purpose = Choice(TokenPurpose)
    prompt_tokens: Field[int] = Plain(int, default=0)
    completion_tokens: Field[int] = Plain(int, default=0)


class RunEvidence(Record):
    """What one run of the task gave."""

    index: Field[int] = Plain(int)
    metrics: Field[RecordList[MetricData] | None] = _Metrics()
    samples = maybe_list(SampleEvidence)
    errors = nested_list(TaskResultError, default=list)
    failures = maybe_nested(TaskResultFailures)


class TaskResultEvidence(Record):
    """What a task gave in all."""

    metrics: Field[RecordList[MetricData] | None] = _Metrics()
    samples = maybe_list(SampleEvidence)
    runs = maybe_list(RunEvidence)
    errors = nested_list(TaskResultError, default=list)
    failures = maybe_nested(TaskResultFailures)
    model_token_usages = nested_list(ModelTokenUsage, default=list)


class TaskResultLog(Record):
    """A task's result file: what was asked, what was done, what came of it."""

    format_version = string()
    app_version = string()
    status = string()
    evidence = maybe_nested(TaskResultEvidence)
    specification = Json()
    execution = Json()
    errors = nested_list(TaskResultError)

    def model_dump_json(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the log's JSON text; numbers that are not finite are bare constants."""
        return json.dumps(self.model_dump(**options), indent=indent)

    def model_dump_json_include_unset(self, *, indent: int | None = None, **options: Any) -> str:
        """Return the log's JSON text with every field; see `model_dump_json`."""
        return json.dumps(self.model_dump_include_unset(**options), indent=indent)


def flat_metrics(
    metrics: Iterable[MetricData | Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the values of `metrics`, each under its metric key, `_` and its own name."""
    records = [raw_of(metric) for metric in metrics]
    return {
        f"{record['metric_key']}_{name}": value
        for record in records
        for name, value in record["values"].items()
    }
