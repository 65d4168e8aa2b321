import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.multiclass_classification import MulticlassClassification
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored

METRIC = MulticlassClassification(field_gt="gt", field_pred="pred")
# cat: 2 of 3 found; dog: 1 of 2 found, 1 of 2 right; emu is only ever predicted
SIX = [
    ("cat", "cat"),
    ("cat", "cat"),
    ("cat", "dog"),
    ("dog", "dog"),
    ("dog", "emu"),
    ("cow", "cat"),
]


def table(pairs, make=stored, **counts: int) -> ScoreTable:
    columns = {
        name: make(list(values)).stored("x")
        for name, values in zip(("gt", "pred"), zip(*pairs, strict=True), strict=True)
    }
    return ScoreTable(columns, None, Counts(len(pairs), **counts))


def values(scores: ScoreTable) -> dict[str, MetricValue]:
    return {value.name: value for value in METRIC.compute(scores)}


@pytest.mark.parametrize("make", [listed, stored, mixed], ids=["list", "arrow", "JSON text"])
def test_the_numbers_of_every_class_and_their_averages(make):
    found = values(table(SIX, make))
    assert {name: value.value for name, value in found.items()} == pytest.approx(
        {
            "accuracy": 3 / 6,
            "cat_precision": 2 / 3,
            "cat_recall": 2 / 3,
            "cat_f1_score": 2 / 3,
            "cow_precision": 0.0,
            "cow_recall": 0.0,
            "cow_f1_score": 0.0,
            "dog_precision": 1 / 2,
            "dog_recall": 1 / 2,
            "dog_f1_score": 1 / 2,
            "emu_precision": 0.0,
            "emu_recall": 0.0,
            "emu_f1_score": 0.0,
            "macro_precision": (2 / 3 + 1 / 2) / 4,
            "macro_recall": (2 / 3 + 1 / 2) / 4,
            "macro_f1_score": (2 / 3 + 1 / 2) / 4,
        }
    )
    assert list(found)[:4] == ["accuracy", "cat_precision", "cat_recall", "cat_f1_score"]
    assert {value.n for value in found.values()} == {6}


def test_rates_have_intervals_and_bounds_and_averages_have_none():
    found = values(table(SIX, n_error=2))
    assert (found["accuracy"].bound_low, found["accuracy"].bound_high) == (3 / 8, 5 / 8)
    recall = found["cat_recall"]
    assert (recall.ci_method, recall.bound_low, recall.bound_high) == ("wilson", 2 / 5, 4 / 5)
    assert recall.ci_low == pytest.approx(0.2077, abs=1e-4)
    macro = found["macro_f1_score"]
    assert (macro.ci_low, macro.bound_low) == (None, None)


def test_a_class_never_predicted_or_never_true_says_why_it_has_0():
    found = values(table(SIX))
    assert found["cow_precision"].reason == "no row was predicted 'cow', so 0 by definition"
    assert found["emu_recall"].reason == "no row is 'emu', so 0 by definition"


def test_labels_are_told_apart_by_their_text():
    found = values(table([(1.0, "1"), (2.0, "1")], listed))
    assert (found["accuracy"].value, found["1_precision"].value) == (0.5, 0.5)


def test_rows_that_lack_a_label_are_not_used_and_no_class():
    found = values(table([*SIX, ("cat", None), (MISSING, "cat")], listed))
    accuracy = found["accuracy"]
    assert (accuracy.value, accuracy.n, accuracy.bound_low) == (0.5, 6, 3 / 8)
    assert accuracy.reason == "2 of 8 scored rows have no usable labels in 'gt' and 'pred'"
    assert "None_recall" not in found


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (ScoreTable({}, None, Counts(0, n_error=3)), "no scored rows"),
        (
            table([("a", None)], listed),
            "no scored rows: none has usable labels in 'gt' and 'pred'",
        ),
    ],
    ids=["all errors", "no labels"],
)
def test_br_059_nothing_scored_is_no_number(scores, reason):
    (value,) = METRIC.compute(scores)
    assert (value.name, value.value, value.n, value.reason) == ("accuracy", None, 0, reason)


@pytest.mark.parametrize(
    ("pairs", "problem"),
    [
        ([(f"answer {i}", "x") for i in range(1_000)], "1,001 different values"),
        ([("macro", "micro")], "a class is called 'macro'"),
    ],
    ids=["free text", "a name that is taken"],
)
def test_what_gives_no_table_of_classes_is_an_error(pairs, problem):
    with pytest.raises(MetricError, match=problem):
        METRIC.compute(table(pairs))


LABELS = st.sampled_from(["a", "b", "c"])


@given(st.lists(st.tuples(LABELS, LABELS), min_size=1))
def test_order_and_storage_do_not_matter_and_intervals_hold_their_rates(pairs):
    found = METRIC.compute(table(pairs))
    assert found == METRIC.compute(table(pairs[::-1], listed))
    assert len({value.name for value in found}) == len(found)
    assert all(value.ci_low <= value.value <= value.ci_high for value in found if value.ci_low)
