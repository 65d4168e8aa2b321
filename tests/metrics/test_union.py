import pickle
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

import tasks_lib.metrics
from tasks_lib.metrics import Metric

MEMBERS = get_args(get_args(Metric)[0])
SHARED = {"__init__", "base", "number_metric", "numbers", "table"}
SNIPPET = "def compute_metrics(scores): return {}"
EXAMPLES = [
    {"type": "mean", "field": "is_correct"},
    {"type": "min", "field": "score", "name": "worst"},
    {"type": "max", "field": "score", "key": "top"},
    {"type": "std_dev", "field": "score"},
    {"type": "frequency", "field": "label"},
    {"type": "python", "compute_metrics_snippet": SNIPPET},
]


def test_every_file_of_the_folder_is_in_the_union():
    folder = Path(tasks_lib.metrics.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - SHARED
    assert {member.model_fields["type"].default for member in MEMBERS} == files
    assert all(member.__doc__ for member in MEMBERS)


@pytest.mark.parametrize("written", EXAMPLES, ids=lambda written: written["type"])
def test_a_member_survives_dumping_hashing_and_pickling(written):
    adapter = TypeAdapter[Metric](Metric)
    metric = adapter.validate_python(written)
    assert metric.model_dump(exclude_unset=True) == written
    assert adapter.validate_python(metric.model_dump()) == metric
    assert hash(metric) == hash(pickle.loads(pickle.dumps(metric)))


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"type": "maen", "field": "x"}, "'maen'"),
        ({"type": "mean"}, "field"),
        ({"type": "mean", "field": "x", "filed": "y"}, "Extra inputs"),
        ({"type": "mean", "field": "x", "key": "a b"}, "key"),
    ],
    ids=["unknown type", "missing field", "unknown key", "bad user key"],
)
def test_a_wrong_definition_is_refused(written, complaint):
    with pytest.raises(ValidationError, match=complaint):
        TypeAdapter[Metric](Metric).validate_python(written)
