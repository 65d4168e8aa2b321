"""System tasks: what their function may return, and what becomes of it."""

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.results.folder import RunFolder
from tasks_lib.steps.system_task import read_evidence, write_evidence
from tasks_lib.system_tasks import SystemTask


def system(source):
    return SystemTask(type="system_task", compute_evidence_snippet=source)


def returning(expression, head="def compute_evidence():", before=""):
    return system(f"{before}\n{head}\n    return {expression}\n")


METRICS = "{'metrics': {'a': {'value': 0.5, 'reason': 'half'}, 'b': {'value': 2}}}"


@pytest.mark.parametrize("head", ["def compute_evidence():", "async def compute_evidence():"])
def test_each_entry_is_a_metric_with_its_reason(head):
    assert returning(METRICS, head).evidence() == {
        "a": {"value": 0.5, "reason": "half"},
        "b": {"value": 2.0, "reason": None},
    }


@pytest.mark.parametrize(
    "before",
    [
        "from pydantic import BaseModel\nclass Evidence(BaseModel):\n    metrics: dict\n",
        "from dataclasses import dataclass\n@dataclass\nclass Evidence:\n    metrics: dict\n",
    ],
    ids=["pydantic", "dataclass"],
)
def test_a_typed_object_of_the_same_shape_is_taken(before):
    found = returning("Evidence(metrics={'a': {'value': 1}})", before=before).evidence()
    assert found == {"a": {"value": 1.0, "reason": None}}


def test_numbers_of_numpy_and_booleans_are_numbers():
    found = returning(
        "{'metrics': {'n': {'value': np.int64(3)}, 'f': {'value': np.float32(0.5)}, "
        "'b': {'value': True}}}",
        before="import numpy as np",
    ).evidence()
    assert {name: metric["value"] for name, metric in found.items()} == {"n": 3, "f": 0.5, "b": 1}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("{'value': float('nan')}", "the value is nan"),
        ("{'value': float('inf'), 'reason': 'why'}", "why; the value is inf"),
    ],
    ids=["NaN", "infinite"],
)
def test_a_value_that_is_not_finite_is_none_and_says_so(value, said):
    found = returning(f"{{'metrics': {{'a': {value}}}}}").evidence()
    assert found == {"a": {"value": None, "reason": said}}


def test_no_metrics_at_all_are_allowed():
    assert returning("{'metrics': {}}").evidence() == {}


@pytest.mark.parametrize(
    ("expression", "complaint"),
    [
        pytest.param("None", "returned None, which has no 'metrics'", id="nothing"),
        pytest.param("{'a': 1}", "which has no 'metrics'", id="metrics without a name"),
        pytest.param("{'metrics': [1]}", "which has no 'metrics'", id="a list"),
        pytest.param("{'metrics': {'a': 1}}", "metric 'a' has no number", id="a bare number"),
        pytest.param("{'metrics': {'a': {}}}", "metric 'a' has no number", id="no value"),
        pytest.param("{'metrics': {'a': {'value': '1'}}}", "has no number", id="text"),
        pytest.param("{'metrics': {'a': {'value': 10**400}}}", "beyond the range", id="too long"),
        pytest.param(
            "{'metrics': {'a': {'value': 1, 'reason': ['x']}}}", "'reason' that is no text",
            id="a reason that is a list",
        ),
        pytest.param("1 / 0", "ZeroDivisionError: division by zero", id="an exception"),
    ],
)  # fmt: skip
def test_anything_else_fails_the_task(expression, complaint):
    with pytest.raises(SampleError, match=complaint) as caught:
        returning(expression).evidence()
    assert caught.value.error_class == "code"


def written(source):
    return {"type": "system_task", "compute_evidence_snippet": source}


def test_a_run_reports_a_row_per_entry_without_scorer_or_model(engine):
    ran = engine.run(written(f"def compute_evidence(): return {METRICS}"))
    row = ran.metrics["a"]
    assert (row["value"], row["reason"], row["metric_key"], row["metric_type"]) == (
        0.5, "half", "a", "system_task",
    )  # fmt: skip
    assert (row["scorer_key"], row["model_key"], row["n"], row["n_error"]) == ("", None, 1, 0)
    assert ran.values == {"a": 0.5, "b": 2.0}
    assert ran.result["exit_code"] == 0
    assert (ran.spec["n_samples"], ran.spec["n_scored"]) == (0, 1)
    assert ran.run.samples().empty


@pytest.mark.parametrize("body", ["return {'metrics': 5}", "raise ValueError('no access')"])
def test_a_failure_fails_the_result(engine, body):
    ran = engine.run(written(f"def compute_evidence():\n    {body}\n"))
    assert ran.result["metrics"] == []
    assert (ran.result["status"], ran.result["exit_code"]) == ("failed", 3)
    assert ran.spec["n_error"] == 1
    assert any("exam: " in words for words in ran.result["warnings"])


def test_trials_have_no_effect_on_it(engine):
    engine.write(
        written("def compute_evidence(): return {'metrics': {'a': {'value': 1}}}"),
        run_config={"trials_config": {"num_trials": 3}},
    )
    ran = engine.run()
    assert (ran.values, ran.spec["num_trials"]) == ({"a": 1.0}, 1)


def test_it_is_computed_once_a_run(tmp_path):
    """A step whose result is written is not done again."""
    log = tmp_path / "log"
    body = f"with open({str(log)!r}, 'a') as file: file.write('x')\n    return {METRICS}"
    source = f"def compute_evidence():\n    {body}\n"
    folder = RunFolder(tmp_path / "run")
    for _ in range(2):
        write_evidence(folder, "s", system(source))
    assert log.read_text() == "x"
    assert read_evidence(folder, "s")[0]["b"] == {"value": 2.0, "reason": None}


def test_rescoring_a_run_computes_it_again(engine):
    first = engine.run(written(f"def compute_evidence(): return {METRICS}"))
    assert engine.run(rescore=first).values == first.values
