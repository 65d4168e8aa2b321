import pickle
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

import tasks_lib.metrics
from tasks_lib.metrics import Metric

MEMBERS = get_args(get_args(Metric)[0])
SHARED = {
    "__init__",
    "averages",
    "base",
    "classification",
    "count_ratio",
    "labels",
    "number_metric",
    "numbers",
    "rates",
    "table",
}
COUNTS = {"num_true_positives_field": "tp", "num_false_positives_field": "fp"}
SNIPPET = "def compute_metrics(scores): return {}"
EXAMPLES = [
    {"type": "mean", "field": "is_correct"},
    {"type": "min", "field": "score", "name": "worst"},
    {"type": "max", "field": "score", "key": "top"},
    {"type": "std_dev", "field": "score"},
    {"type": "frequency", "field": "label"},
    {"type": "weighted_average", "field": "label", "weights": {"good": 1.0, "bad": -1.0}},
    {"type": "precision", **COUNTS},
    {"type": "recall", "num_true_positives_field": "tp", "num_false_negatives_field": "fn"},
    {"type": "f1_score", **COUNTS, "num_false_negatives_field": "fn", "name": "F1"},
    {
        "type": "binary-classification",
        "field_gt": "gt",
        "field_pred": "pred",
        "positive_answer": "yes",
        "negative_answer": "no",
    },
    {"type": "multiclass-classification", "field_gt": "gt", "field_pred": "pred"},
    {"type": "python", "compute_metrics_snippet": SNIPPET},
]


def test_every_file_of_the_folder_is_in_the_union():
    folder = Path(tasks_lib.metrics.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - SHARED
    types = {member.model_fields["type"].default for member in MEMBERS}
    assert {name.replace("-", "_") for name in types} == files
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
