import numpy as np
import pytest
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import MetricError
from tasks_lib.metrics.python import PythonMetric
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import stored

PASS_RATE = """
def compute_metrics(scores):
    passed = [s for s in scores if s.values["x"] >= 0.5]
    return {"pass_rate": len(passed) / len(scores), "any": bool(passed)}
"""


def metric(body: str) -> PythonMetric:
    return PythonMetric(compute_metrics_snippet=f"def compute_metrics(scores):\n    {body}\n")


def test_it_gets_every_score_and_its_names_become_values():
    rate, some = PythonMetric(compute_metrics_snippet=PASS_RATE).compute(stored([0.2, 0.5, 1.0]))
    assert (rate.name, rate.value, rate.n) == ("pass_rate", pytest.approx(2 / 3), 3)
    assert (some.name, some.value) == ("any", 1.0)
    assert (rate.ci_low, rate.bound_low, rate.reason) == (None, None, None)


def test_it_sees_values_metadata_and_no_field_a_row_lacks():
    table = ScoreTable({"a": [1, MISSING], "b": ["x", None]}, [{"k": 7}, None], Counts(2))
    values = metric(
        "return {'k': scores[0].metadata['k'], 'none': scores[1].metadata is None, "
        "'lacks': 'a' not in scores[1].values, 'null': scores[1].values['b'] is None}"
    ).compute(table)
    assert {value.name: value.value for value in values} == {
        "k": 7.0,
        "none": 1.0,
        "lacks": 1.0,
        "null": 1.0,
    }


def test_an_async_function_is_awaited():
    source = "import asyncio\nasync def compute_metrics(scores):\n    await asyncio.sleep(0)\n"
    source += "    return {'n': len(scores)}\n"
    (value,) = PythonMetric(compute_metrics_snippet=source).compute(stored([1.0, 2.0]))
    assert value.value == 2.0


@pytest.mark.parametrize(
    ("returned", "expected"),
    [("np.float32(0.5)", 0.5), ("np.int64(3)", 3.0), ("np.True_", 1.0)],
)
def test_numpy_scalars_are_numbers(returned, expected):
    (value,) = metric(f"import numpy as np; return {{'v': {returned}}}").compute(stored([1.0]))
    assert value.value == expected
    assert type(value.value) is float
    assert np.isfinite(value.value)


@pytest.mark.parametrize("number", ["nan", "inf", "-inf"])
def test_br_059_what_is_not_finite_is_no_value(number):
    (value,) = metric(f"return {{'v': float('{number}')}}").compute(stored([1.0]))
    assert (value.value, value.reason) == (None, f"compute_metrics returned {number}")


def test_br_059_without_scored_rows_the_function_is_not_called():
    (value,) = metric("return {'mean': 1 / len(scores)}").compute(
        ScoreTable({}, None, Counts(0, n_error=3))
    )
    assert (value.name, value.value, value.reason) == ("python", None, "no scored rows")


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("return 0.5", "compute_metrics returned 0.5"),
        ("return {'v': 'high'}", "compute_metrics returned 'high' under 'v'"),
        ("return {'v': None}", "compute_metrics returned None under 'v'"),
        ("return {1: 2}", "compute_metrics returned 2 under 1"),
        ("return {'v': 1 / 0}", "ZeroDivisionError: division by zero"),
        ("return {'v': scores[0].values['y']}", "KeyError: 'y'"),
    ],
    ids=["a number", "text", "null", "no name", "an exception", "an unknown field"],
)
def test_anything_else_is_an_error_of_this_metric(body, problem):
    with pytest.raises(MetricError) as caught:
        metric(body).compute(stored([1.0]))
    assert caught.value.problem == problem


def test_bad_python_is_refused_when_loaded():
    with pytest.raises(ValidationError, match="compute_metrics"):
        TypeAdapter(PythonMetric).validate_python(
            {"type": "python", "compute_metrics_snippet": "def compute(scores): pass"}
        )
