from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.binary_classification import BinaryClassification
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored

METRIC = BinaryClassification(
    field_gt="gt", field_pred="pred", positive_answer="yes", negative_answer="no"
)
NAMES = [
    "accuracy",
    "precision",
    "recall",
    "f1_score",
    "true_positives",
    "false_positives",
    "true_negatives",
    "false_negatives",
]
# 3 true positives, 1 false negative, 2 false positives, 4 true negatives
TEN = [
    *[("yes", "yes")] * 3,
    ("yes", "no"),
    *[("no", "yes")] * 2,
    *[("no", "no")] * 4,
]


def table(pairs, make=stored, **counts: int) -> ScoreTable:
    columns = {
        name: make(list(values)).stored("x")
        for name, values in zip(("gt", "pred"), zip(*pairs, strict=True), strict=True)
    }
    return ScoreTable(columns, None, Counts(len(pairs), **counts))


def values(scores: ScoreTable, metric: BinaryClassification = METRIC) -> dict[str, MetricValue]:
    return {value.name: value for value in metric.compute(scores)}


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_the_numbers_of_a_confusion_matrix(make):
    found = values(table(TEN, make))
    assert list(found) == NAMES
    assert [value.value for value in found.values()] == pytest.approx(
        [0.7, 3 / 5, 3 / 4, 6 / 9, 3, 2, 4, 1]
    )
    assert {value.n for value in found.values()} == {10}


def test_rates_have_wilsons_interval_of_the_rows_they_are_a_share_of():
    found = values(table(TEN))
    accuracy = found["accuracy"]
    assert (accuracy.ci_low, accuracy.ci_high) == pytest.approx(
        (0.39677814746114537, 0.8922087325936989)
    )
    assert accuracy.stderr == pytest.approx(0.15275252316519464)
    recall = found["recall"]  # of the 4 rows that are 'yes'
    assert (recall.ci_low, recall.ci_high) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert found["true_positives"].ci_low is None


def test_f1_has_the_interval_of_the_overlap_carried_over():
    f1 = values(table(TEN))["f1_score"]
    low, high = 0.187617, 0.812383  # Wilson of 3 of 6
    assert (f1.ci_low, f1.ci_high) == pytest.approx(
        (2 * low / (1 + low), 2 * high / (1 + high)), abs=2e-6
    )
    assert (f1.ci_method, f1.stderr) == ("wilson", pytest.approx(8 / 9 * (0.25 / 5) ** 0.5))


def test_unscored_rows_show_in_the_bounds():
    found = values(table(TEN, n_error=2, n_excluded=5))
    bounds = {name: (found[name].bound_low, found[name].bound_high) for name in NAMES[:4]}
    assert bounds == {
        "accuracy": (7 / 12, 9 / 12),
        "precision": (3 / 7, 5 / 7),
        "recall": (3 / 6, 5 / 6),
        "f1_score": (pytest.approx(6 / 11), pytest.approx(10 / 13)),
    }


def test_another_prediction_is_unscored_and_another_truth_is_not_asked_about():
    found = values(table([*TEN, ("yes", "maybe"), ("n/a", "yes")]))
    accuracy = found["accuracy"]
    assert (accuracy.value, accuracy.n) == (0.7, 10)
    assert (accuracy.bound_low, accuracy.bound_high) == (7 / 11, 8 / 11)
    assert accuracy.reason == "2 of 12 scored rows have no usable labels in 'gt' and 'pred'"


@pytest.mark.parametrize(
    ("pairs", "zeros"),
    [
        (
            [("no", "no")],
            {
                "precision": "no row was predicted 'yes', so 0 by definition",
                "recall": "no row is 'yes', so 0 by definition",
                "f1_score": "no row is or was predicted 'yes', so 0 by definition",
            },
        ),
        (
            [("yes", "no")],
            {
                "precision": "no row was predicted 'yes', so 0 by definition",
                "recall": None,
                "f1_score": None,
            },
        ),
    ],
    ids=["no positives at all", "none predicted"],
)
def test_an_empty_share_is_0_and_says_so(pairs, zeros):
    found = values(table(pairs * 3))
    assert {name: found[name].reason for name in zeros} == zeros
    assert {found[name].value for name in zeros} == {0.0}


def test_an_empty_share_could_be_anything_when_rows_are_unscored():
    precision = values(table([("no", "no")], n_error=1))["precision"]
    assert (precision.value, precision.bound_low, precision.bound_high) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_booleans_and_numbers_are_compared_as_text(make):
    metric = METRIC.model_copy(update={"positive_answer": "True", "negative_answer": "False"})
    found = values(table([(True, True), (False, True)], make), metric)
    assert (found["accuracy"].value, found["precision"].value) == (0.5, 0.5)
    metric = METRIC.model_copy(update={"positive_answer": "1", "negative_answer": "0"})
    found = values(table([(1.0, 0.0), (1.0, 1.0)], make), metric)
    assert found["recall"].value == 0.5


def test_rows_that_lack_a_label_are_not_used():
    pairs = [("yes", "yes"), (None, "yes"), ("yes", MISSING), ("no", float("nan"))]
    accuracy = values(table(pairs, listed))["accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.bound_low) == (1.0, 1, 0.25)


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (ScoreTable({}, None, Counts(0, n_error=3)), "no scored rows"),
        (
            table([("a", "b")]),
            "no scored rows: none has usable labels in 'gt' and 'pred'",
        ),
    ],
    ids=["all errors", "other labels"],
)
def test_br_059_nothing_scored_is_no_number(scores, reason):
    (value,) = METRIC.compute(scores)
    assert (value.name, value.value, value.n, value.reason) == ("accuracy", None, 0, reason)


def test_a_wrong_field_is_an_error():
    with pytest.raises(MetricError, match="no score has a field 'predicted_label'"):
        METRIC.model_copy(update={"field_pred": "predicted_label"}).compute(table(TEN))


def test_equal_answers_are_refused():
    with pytest.raises(ValidationError, match="both answers are 'yes'"):
        TypeAdapter(BinaryClassification).validate_python(
            {**METRIC.model_dump(), "negative_answer": "yes"}
        )


ANSWERS = st.sampled_from(["yes", "no", "maybe", None])


@given(st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1), st.data())
def test_whatever_the_unscored_rows_were_each_rate_lies_within_its_bounds(pairs, data):
    truth = [one for one, _ in pairs]
    settled = [
        (one, other if other in ("yes", "no") else data.draw(st.sampled_from(["yes", "no"])))
        for one, other in pairs
    ]
    for scores, whole in zip(
        METRIC.compute(table(pairs, listed)), METRIC.compute(table(settled, listed)), strict=False
    ):
        if None in truth or scores.bound_low is None or whole.value is None:
            continue
        assert scores.bound_low - 1e-12 <= whole.value <= scores.bound_high + 1e-12


@given(st.lists(st.tuples(ANSWERS, ANSWERS), min_size=1))
def test_storage_and_order_do_not_matter(pairs):
    found = METRIC.compute(table(pairs, listed))
    gt, pred = (pa.array(list(column), pa.string()) for column in zip(*pairs[::-1], strict=True))
    columns = {"gt": pa.chunked_array([gt]), "pred": pa.chunked_array([pred])}
    assert found == METRIC.compute(ScoreTable(columns, None, Counts(len(pairs))))


def test_a_million_rows_take_under_200_ms():
    words = np.array(["yes", "no", "maybe"])
    columns = {
        "gt": pa.chunked_array([pa.array(words[np.arange(1_000_000) % 2])]),
        "pred": pa.chunked_array([pa.array(words[np.arange(1_000_000) % 3])]),
    }
    scores = ScoreTable(columns, None, Counts(1_000_000))
    METRIC.compute(scores)
    start = process_time()
    METRIC.compute(scores)
    assert process_time() - start < 0.2
