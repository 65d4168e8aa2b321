import json
import math

import pytest

from tasks_lib.trace import SolverTrace, Trace
from tasks_lib.trace.evidence import (
    ActionRecord,
    MetricData,
    ModelTokenUsage,
    RunEvidence,
    SampleData,
    SampleEvidence,
    SampleScore,
    SampleTrialEvidence,
    ScoresData,
    SolverData,
    TaskResultError,
    TaskResultEvidence,
    TaskResultFailures,
    TaskResultLog,
    flat_metrics,
)
from tasks_lib.trace.grouped import GroupedSolverTrace
from tasks_lib.trace.legacy import SingleSolverOutput


def metric(**values):
    return MetricData(values=values, metric_key="mk", metric_type="mean", scorer_key="s")


def log(**evidence):
    return TaskResultLog(
        format_version="v1",
        app_version="1",
        status="success",
        evidence=evidence,
        specification={"display_name": "d"},
        execution={"runtime": 1.5},
        errors=[],
    )


def test_a_whole_log_survives_json():
    score = ScoresData(scorer_key="s", values={"is_correct": True})
    solver = SolverData(output=SolverTrace(Trace.from_items([])))
    error = TaskResultError(error_type="E", message="m", stage="solver")
    trial = SampleTrialEvidence(
        index=0, sample_id="1", sample=SampleData(data={"q": 1}), solver=solver, scores=[score]
    )
    sample = SampleEvidence(
        sample_id="1",
        trials=[trial],
        action_records=[ActionRecord(action="exclude", rule_key="r")],
        errors=[error],
    )
    written = log(
        metrics=[metric(a=1)],
        samples=[sample],
        runs=[RunEvidence(index=0, failures=TaskResultFailures(num_errors=0, num_total=1))],
        model_token_usages=[ModelTokenUsage(model_id=1, purpose="judge", prompt_tokens=2)],
    )
    read = TaskResultLog.model_validate_json(written.model_dump_json_include_unset())
    assert read == written
    trial = read.evidence.samples[0].trials[0]
    assert trial.scores[0].values == {"is_correct": True}
    assert trial.scores[0].scorer_purpose == "score"
    assert isinstance(trial.solver.output, SolverTrace)
    assert read.evidence.samples[0].scores is None
    assert read.evidence.samples[0].errors[0].stage == "solver"


@pytest.mark.parametrize(
    ("output", "cls"),
    [
        ({"messages": [], "output": None}, SingleSolverOutput),
        ({"solver_outputs": [{"trace": {"items": []}, "raw_outputs": []}]}, GroupedSolverTrace),
        ({"trace": {"items": []}, "raw_outputs": []}, SolverTrace),
    ],
)
def test_a_solver_output_is_told_by_its_keys(output, cls):
    assert type(SolverData(output=output).output) is cls


def test_a_log_writes_numbers_that_are_not_finite_as_constants():
    text = log(metrics=[metric(a=math.nan, b=math.inf)]).model_dump_json()
    assert '"a": NaN, "b": Infinity' in text
    assert math.isnan(TaskResultLog.model_validate_json(text).evidence.metrics[0].values["a"])


def test_metrics_of_an_old_log_become_one_record():
    evidence = TaskResultEvidence(metrics={"accuracy": 0.5})
    assert evidence.metrics[0].model_dump() == {
        "values": {"accuracy": 0.5},
        "metric_key": "task_metric",
        "metric_type": "task_metric_type",
        "scorer_key": "task_scorer",
    }
    read = TaskResultEvidence.model_validate_json(json.dumps({"metrics": {"accuracy": 0.5}}))
    assert read.metrics[0].metric_key == "task_metric"


def test_flat_names_join_metric_key_and_value_name():
    assert flat_metrics([metric(a=1, b=2)]) == {"mk_a": 1, "mk_b": 2}


def test_a_stage_is_one_of_the_six():
    with pytest.raises(ValueError, match="'cleanup' is none of configuration, dataset"):
        TaskResultError(error_type="E", message="m", stage="cleanup")


def test_a_sample_score_has_values_and_perhaps_metadata():
    score = SampleScore(values={"a": 1})
    assert (score.metadata, score.direct_ios) == (None, [])
    with pytest.raises(ValueError, match="values"):
        SampleScore(values=[1])
