import pyarrow as pa
import pytest

from tasks_lib.errors import MetricError
from tasks_lib.metrics.table import MISSING, Counts, ScoreTable
from tests.metrics.tables import listed, mixed, stored


def test_counts_add_up_every_row_in_exactly_one_state():
    counts = Counts(n=6, n_error=2, n_skipped=1, n_excluded=3)
    assert (counts.n_total, counts.n_population) == (12, 9)


@pytest.mark.parametrize("make", [listed, stored], ids=["list", "arrow"])
def test_a_column_gives_plain_values(make):
    assert make([1.0, None, 2.5]).column("x") == [1.0, None, 2.5]


def test_a_column_of_several_kinds_is_decoded():
    values = [1, "C", {"style": 0.5}, None, True]
    assert mixed(values).column("x") == values


def test_null_text_in_a_column_of_several_kinds_means_the_row_lacks_the_field():
    column = pa.chunked_array([pa.array(["null", None], pa.string())])
    table = ScoreTable({"x": column}, None, Counts(2), json_fields={"x"})
    assert table.column("x") == [None, MISSING]


def test_an_unknown_field_is_named_with_the_known_ones_and_a_guess():
    table = ScoreTable({"is_correct": [True], "length": [3.0]}, None, Counts(1))
    with pytest.raises(MetricError) as caught:
        table.column("is_corect")
    assert str(caught.value) == (
        "no score has a field 'is_corect'; "
        "did you mean 'is_correct'? known fields: 'is_correct', 'length'"
    )


def test_rows_leave_out_what_they_lack():
    table = ScoreTable({"a": [1, MISSING], "b": ["x", None]}, None, Counts(2))
    assert table.rows() == [{"a": 1, "b": "x"}, {"b": None}]


def test_rows_without_any_field_are_empty():
    assert ScoreTable({}, None, Counts(2)).rows() == [{}, {}]


@pytest.mark.parametrize(
    "metadata",
    [[{"k": 1}, None], pa.chunked_array([pa.array(['{"k":1}', None], pa.string())])],
    ids=["list", "JSON text"],
)
def test_metadata_is_read_in_either_form(metadata):
    assert ScoreTable({}, metadata, Counts(2)).metadata == [{"k": 1}, None]


def test_no_metadata_is_none_for_every_row():
    assert ScoreTable({}, None, Counts(2)).metadata == [None, None]


def test_a_column_of_another_length_is_refused():
    with pytest.raises(ValueError, match="column 'x' has 2 rows, not 3"):
        ScoreTable({"x": [1, 2]}, None, Counts(3))
