import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import MetricError
from tasks_lib.metrics.base import MetricValue
from tasks_lib.metrics.f1_score import F1Score
from tasks_lib.metrics.precision import Precision
from tasks_lib.metrics.recall import Recall
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, stored

TP = "num_true_positives_field"
FP = "num_false_positives_field"
FN = "num_false_negatives_field"
PRECISION = Precision(**{TP: "tp", FP: "fp"})
RECALL = Recall(**{TP: "tp", FN: "fn"})
F1 = F1Score(**{TP: "tp", FP: "fp", FN: "fn"})
ALL = [PRECISION, RECALL, F1]


def counted(tp: list, fp: list, fn: list, make=stored, **counts: int) -> ScoreTable:
    columns = {
        name: make(values).stored("x") for name, values in (("tp", tp), ("fp", fp), ("fn", fn))
    }
    return ScoreTable(columns, None, Counts(len(tp), **counts))


def only(metric, table: ScoreTable) -> MetricValue:
    (value,) = metric.compute(table)
    return value


@pytest.mark.parametrize("make", [listed, stored], ids=["list", "arrow"])
@pytest.mark.parametrize(
    ("metric", "expected"),
    [(PRECISION, 6 / 9), (RECALL, 6 / 8), (F1, 12 / 17)],
    ids=lambda it: getattr(it, "type", ""),
)
def test_counts_are_summed_over_the_rows_first(make, metric, expected):
    value = only(metric, counted([4, 0, 2], [0, 3, 0], [1, 1, 0], make))
    assert value.value == pytest.approx(expected)
    assert (value.name, value.n, value.reason) == (metric.type, 3, None)
    assert (value.bound_low, value.bound_high) == (None, None)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.type)
def test_one_count_a_row_may_be_a_boolean(metric):
    table = counted([True, False], [False, True], [False, False])
    assert (
        only(metric, table).value
        == {"precision": 0.5, "recall": 1.0, "f1_score": 2 / 3}[metric.type]
    )


def test_the_interval_takes_rows_as_units_and_stays_within_the_rates():
    # clusters of 3, 4, 2, 3, 3 with 2, 4, 0, 2, 0 right: the clustered error of statsmodels
    value = only(PRECISION, counted([2, 4, 0, 2, 0], [1, 0, 2, 1, 3], [0] * 5))
    assert value.value == pytest.approx(8 / 15)
    assert value.stderr == pytest.approx(0.20415438360632626)
    assert value.ci_method == "t"
    assert value.ci_low == 0.0  # the t interval of 4 degrees of freedom begins below
    assert value.ci_high == 1.0
    many = only(PRECISION, counted([2, 4, 0, 2, 0] * 20, [1, 0, 2, 1, 3] * 20, [0] * 100))
    assert (many.ci_low, many.ci_high) == pytest.approx((0.4519, 0.6148), abs=1e-4)


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.type)
def test_nothing_counted_is_0_and_says_so(metric):
    value = only(metric, counted([0, 0], [0, 0], [0, 0]))
    assert (value.value, value.n, value.ci_low) == (0.0, 2, None)
    assert value.reason == "nothing was counted, so 0 by definition"


@pytest.mark.parametrize(
    ("tp", "fp", "reason"),
    [
        ([3], [1], "one row, so no interval"),
        ([3, 3], [1, 1], "all rows have this ratio, so no interval"),
    ],
    ids=["one row", "equal rows"],
)
def test_without_spread_there_is_no_interval(tp, fp, reason):
    value = only(PRECISION, counted(tp, fp, [0] * len(tp)))
    assert (value.value, value.stderr, value.ci_low) == (0.75, None, None)
    assert value.reason == reason


@pytest.mark.parametrize("missing", [None, float("nan"), MISSING], ids=["null", "NaN", "lacking"])
def test_br_062_a_row_that_lacks_a_count_is_left_out(missing):
    value = only(PRECISION, counted([4, 9, 0], [0, missing, 4], [0, 0, 0], listed))
    assert (value.value, value.n) == (0.5, 2)
    assert value.reason == "1 of 3 scored rows lack one of 'tp', 'fp'"


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (ScoreTable({}, None, Counts(0, n_error=3)), "no scored rows"),
        (counted([], [], []), "no scored rows"),
        (
            counted([None], [None], [None], listed),
            "no scored rows: none has all of 'tp', 'fp', 'fn'",
        ),
    ],
    ids=["all errors", "empty columns", "no row has the counts"],
)
def test_br_059_nothing_scored_is_no_number(table, reason):
    value = only(F1, table)
    assert (value.value, value.n, value.reason) == (None, 0, reason)


@pytest.mark.parametrize("wrong", [-1, float("inf"), 1e300], ids=["negative", "infinite", "huge"])
def test_what_is_no_count_is_an_error(wrong):
    with pytest.raises(MetricError, match=r"'fp' holds .*, which is no count"):
        only(PRECISION, counted([1], [wrong], [0]))


def test_a_wrong_field_is_an_error():
    with pytest.raises(MetricError, match="no score has a field 'found'"):
        only(Precision(**{TP: "found", FP: "fp"}), counted([1], [1], [1]))


def test_the_name_can_be_given_and_makes_the_key():
    metric = Recall(**{TP: "tp", FN: "fn"}, name="Claims found")
    assert only(metric, counted([1], [0], [1])).name == "Claims found"
    assert metric.made_key() == "claims-found"
    assert RECALL.made_key() == "recall"


@given(st.lists(st.tuples(*[st.integers(0, 9)] * 3), min_size=1), st.randoms())
def test_f1_is_the_harmonic_mean_and_the_order_of_rows_does_not_matter(rows, shuffler):
    table = counted(*map(list, zip(*rows, strict=True)))
    precision, recall, f1 = (only(metric, table) for metric in ALL)
    both = precision.value + recall.value
    assert f1.value == pytest.approx(2 * precision.value * recall.value / both if both else 0)
    assert all(
        value.ci_low is None or value.ci_low <= value.value <= value.ci_high
        for value in (precision, recall, f1)
    )
    shuffler.shuffle(rows)
    again = only(F1, counted(*map(list, zip(*rows, strict=True))))
    assert (again.value, again.n) == (pytest.approx(f1.value), f1.n)
