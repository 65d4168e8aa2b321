"""From the scores of every trial to one record per sample and row."""

import pytest

from tasks_lib.errors import SampleError
from tasks_lib.jsontext import loads
from tasks_lib.results.schemas import SampleRecord
from tasks_lib.results.score_records import score_table
from tasks_lib.results.scores import field_kinds
from tasks_lib.scorers.score import Score
from tasks_lib.steps.outcomes import score_record
from tasks_lib.steps.trial_aggregates import over_trials, shares
from tasks_lib.trials import ScoreAggregator

TEXTS = {"spec_key": "s", "sample": "{}", "trace": "{}", "raw_outputs": "[]"}
NUMBERS = dict.fromkeys(("calls", "ledger_hits", "input_tokens", "output_tokens", "started_at"), 0)


def record(sample="a", trial=0, row=0, index=0, failed=None):
    return SampleRecord(
        **TEXTS,
        **NUMBERS,
        sample_id=sample,
        sample_index=index,
        trial=trial,
        row=row,
        output_text=None,
        finish_reason=None,
        status="error" if failed else "ok",
        error_stage="solver" if failed else None,
        error_class="model" if failed else None,
        error_message=failed,
        cost_usd=None,
        duration_s=0.0,
    )


def aggregate(*pairs, trials, aggregators=()):
    """`(record, outcome)` pairs in; `{(sample id, row): score record}` out."""
    records, outcomes = zip(*pairs, strict=True)
    rows = over_trials(records, outcomes, aggregators, trials)
    assert all(row.trial is None for row in rows)
    return {(row.sample_id, row.row): row for row in rows}


def right(value=True):
    return Score({"ok": value})


def test_each_sample_gets_one_record():
    found = aggregate(
        (record("a", 0), right()),
        (record("a", 1), right(False)),
        (record("b", 0, index=1), right()),
        (record("b", 1, index=1), right()),
        trials=2,
    )
    assert found["a", 0].values == {"ok": 0.5, "ok.mean": 0.5}
    assert found["b", 0].values == {"ok": 1.0, "ok.mean": 1.0}


def test_failed_trials_are_left_out_and_counted():
    found = aggregate(
        (record("a", 0), right()),
        (record("a", 1, failed="timeout"), None),
        (record("a", 2), SampleError("code", "no number")),
        (record("a", 3), right(False)),
        trials=4,
    )
    (score,) = found.values()
    assert score.values["ok"] == 0.5
    assert loads(score.metadata) == {"trials": 2, "failed_trials": 2}


@pytest.mark.parametrize(
    ("failed", "outcome", "error_class"),
    [
        pytest.param("timeout", None, "model", id="in the solver"),
        pytest.param(None, SampleError("code", "timeout"), "code", id="in the scorer"),
    ],
)
def test_a_sample_whose_trials_all_failed_is_an_error(failed, outcome, error_class):
    found = aggregate(*[(record("a", t, failed=failed), outcome) for t in range(3)], trials=3)
    error = found["a", 0]
    assert error.error_message == "all 3 trials failed, the first: timeout"
    assert error.error_class == error_class


def test_what_an_aggregator_can_not_take_is_the_samples_error_alone():
    needs_rate = ScoreAggregator(score_name="ok", aggregator={"function": "pass@k", "k": 1})
    found = aggregate(
        (record("a", 0), right(3)),
        (record("a", 1), right()),
        (record("b", 0, index=1), right()),
        (record("b", 1, index=1), right()),
        trials=2,
        aggregators=[needs_rate],
    )
    assert found["a", 0].status == "error"
    assert found["b", 0].values == {"ok": 1.0, "ok.pass@1": 1.0}


def test_rows_of_a_postprocessor_are_matched_by_position():
    pairs = [
        (record(f"a#{row}", trial, row), right((trial, row) != (1, 1)))
        for trial in range(2)
        for row in range(2)
    ]
    found = aggregate(*pairs, trials=2)
    assert {place: score.values["ok"] for place, score in found.items()} == {
        ("a#0", 0): 1.0,
        ("a#1", 1): 0.5,
    }


def test_a_failed_trial_counts_at_every_position():
    pairs = [(record("a", 0, failed="timeout"), None)]
    pairs += [(record(f"a#{row}", 1, row), right()) for row in range(2)]
    found = aggregate(*pairs, trials=2)
    assert [loads(score.metadata)["failed_trials"] for score in found.values()] == [1, 1]
    assert list(found) == [("a#0", 0), ("a#1", 1)]


@pytest.mark.parametrize(
    ("made", "said"),
    [
        pytest.param([1, 2], "1, 2", id="one and two"),
        pytest.param([2, 1], "2, 1", id="two and one"),
        pytest.param([2, 0], "2, 0", id="two and none"),
        pytest.param([0, 2], "0, 2", id="none and two"),
        pytest.param([1, 0], "1, 0", id="one and none"),
    ],
)
def test_different_numbers_of_rows_are_an_error_at_every_position(made, said):
    pairs = [
        (record("a#b" if count == 1 else f"a#b#{row}", trial, row), right())
        for trial, count in enumerate(made)
        for row in range(count)
    ]
    found = aggregate(*pairs, trials=2)
    several = max(made) > 1
    assert list(found) == [("a#b#0", 0), ("a#b#1", 1)] if several else [("a#b", 0)]
    for error in found.values():
        assert error.error_message == f"the trials made different numbers of rows: {said}"


def test_rows_without_a_trial_that_solved_are_none_when_the_others_made_none():
    assert aggregate((record("a", 0, failed="timeout"), None), trials=2) == {}


def test_booleans_and_their_aggregates_are_shares():
    aggregators = [
        ScoreAggregator(score_name="ok", aggregator={"function": "max", "score_name": "best"}),
        ScoreAggregator(score_name="n", aggregator={"function": "max"}),
    ]
    values = [{"ok": True, "n": 1, "q": None}, None, {"ok": False, "q": True}]
    assert shares(values, aggregators) == {"ok", "best", "ok.mean", "q", "q.mean"}


def test_shares_are_stored_as_numbers_and_say_so():
    records = [record("a", trial) for trial in range(2)]
    outcomes = [right(), right(False)]
    trials = list(map(score_record, records, outcomes))
    known = shares((trial.values for trial in trials), ())
    table = score_table([*trials, *over_trials(records, outcomes, (), 2)], known)
    assert field_kinds(table.schema) == {"ok": "share", "ok.mean": "share"}
    assert table.column("ok").to_pylist() == [1.0, 0.0, 0.5]
    assert table.column("trial").to_pylist() == [0, 1, None]
