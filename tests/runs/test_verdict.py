from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.exit_codes import DONE, GATE_FAILED, TOO_MANY_ERRORS
from tasks_lib.plan import RunSettings
from tasks_lib.runs.verdict import SpecOutcome, Verdict, judge_run


def outcome(n_rows: int, n_error: int = 0, n_excluded: int = 0) -> SpecOutcome:
    return SpecOutcome("spec", n_rows, n_error, n_excluded)


def metric(value: float | None = 0.75, **fields: Any) -> dict[str, Any]:
    row = {"spec_key": "spec", "name": "accuracy", "metric_key": "mean_1", "purpose": "score"}
    return row | {"value": value, "n_error": 0, "bound_low": None, "bound_high": None} | fields


def judged(*outcomes: SpecOutcome, metrics: Any = (), **settings: Any) -> Verdict:
    return judge_run(outcomes, list(metrics), RunSettings(Path("store"), **settings))


# errors


def test_a_run_without_errors_is_done():
    assert judged(outcome(10), metrics=[metric()]) == Verdict("complete", DONE)


def test_any_error_is_one_too_many_unless_allowed():
    """BR-055."""
    assert judged(outcome(8, 1), outcome(2, 1), metrics=[metric()]) == Verdict(
        "complete", TOO_MANY_ERRORS, ("2 of 10 rows failed, more than the 0.0% allowed",)
    )
    allowed = judged(outcome(8, 1), outcome(2, 1), metrics=[metric()], max_error_rate=0.2)
    assert allowed.exit_code == DONE


@given(st.integers(1, 1000), st.data())
def test_exactly_the_allowed_share_is_allowed(rows: int, data: st.DataObject):
    errors = data.draw(st.integers(0, rows - 1))
    verdict = judged(outcome(rows, errors), metrics=[metric()], max_error_rate=errors / rows)
    assert verdict.exit_code == DONE
    if errors:
        stricter = (errors - 0.5) / rows
        verdict = judged(outcome(rows, errors), metrics=[metric()], max_error_rate=stricter)
        assert verdict.exit_code == TOO_MANY_ERRORS


def test_29_of_100_are_29_percent():
    assert 29 > 0.29 * 100, "as floats"
    assert judged(outcome(100, 29), metrics=[metric()], max_error_rate=0.29).exit_code == DONE


@pytest.mark.parametrize("allowed", [0.0, 1.0])
def test_a_run_whose_every_row_failed_has_failed_whatever_is_allowed(allowed: float):
    """BR-059."""
    verdict = judged(outcome(3, 3), metrics=[metric(None)], max_error_rate=allowed)
    assert verdict == Verdict("failed", TOO_MANY_ERRORS, ("3 of 3 rows failed",))


def test_a_run_in_which_nothing_was_scored_has_failed():
    """BR-059."""
    verdict = judged(outcome(2), metrics=[metric(None), metric(1.0, purpose="qa")])
    assert (verdict.status, verdict.exit_code) == ("failed", TOO_MANY_ERRORS)
    assert verdict.words == ("no metric has a value",)


def test_one_metric_without_a_value_does_not_fail_the_run():
    assert judged(outcome(2), metrics=[metric(None), metric(0.0)]).exit_code == DONE


def test_a_run_without_metrics_is_done():
    assert judged(outcome(2)).exit_code == DONE


# gates


def gate(least: float, *rows: dict[str, Any], name: str = "accuracy", **settings: Any) -> Verdict:
    return judged(outcome(10), metrics=rows, fail_under={name: least}, **settings)


@pytest.mark.parametrize(("least", "code"), [(0.75, DONE), (0.7500001, GATE_FAILED)])
@pytest.mark.parametrize("name", ["accuracy", "mean_1"])
def test_a_gate_holds_from_its_value_on(least: float, code: int, name: str):
    assert gate(least, metric(), name=name).exit_code == code


def test_a_failed_gate_says_what_failed_and_by_how_much():
    verdict = gate(0.8, metric(), metric(0.9, spec_key="other"))
    assert verdict == Verdict(
        "complete", GATE_FAILED, ("gate failed: spec accuracy is 0.75, under 0.8",)
    )


@pytest.mark.parametrize("value", [None, float("nan")])
def test_a_gate_on_no_value_fails(value: float | None):
    verdict = gate(0.0, metric(value), metric(1.0, name="other", metric_key="o"))
    assert verdict.words == ("gate failed: spec accuracy has no value",)


def test_a_gate_on_nothing_fails_and_names_what_there_is():
    verdict = gate(0.0, metric(), name="acuracy")
    assert verdict.exit_code == GATE_FAILED
    assert verdict.words == ("gate failed: no metric is named 'acuracy' (metrics: accuracy)",)


@pytest.mark.parametrize(
    ("least", "code"),
    [
        pytest.param(0.5, DONE, id="held even if all failed rows were wrong"),
        pytest.param(0.6, DONE, id="held at the very bound"),
        pytest.param(0.7, TOO_MANY_ERRORS, id="held, but the failed rows could turn it"),
        pytest.param(0.78, TOO_MANY_ERRORS, id="failed, but the failed rows could turn it"),
        pytest.param(0.8, TOO_MANY_ERRORS, id="reached only if all were right"),
        pytest.param(0.81, GATE_FAILED, id="failed even if all failed rows were right"),
    ],
)
def test_failed_rows_that_could_turn_a_gate_leave_it_undecided(least: float, code: int):
    row = metric(n_error=2, bound_low=0.6, bound_high=0.8)
    verdict = judge_run(
        [outcome(10, 2)],
        [row],
        RunSettings(Path("store"), max_error_rate=0.2, fail_under={"accuracy": least}),
    )
    assert verdict.exit_code == code
    if code == TOO_MANY_ERRORS:
        assert verdict.words == (
            "gate undecided: spec accuracy is 0.75, but its 2 failed rows could make it "
            f"anything from 0.6 to 0.8, and the gate is at {least:g}",
        )


def test_a_gate_that_failed_for_sure_counts_more_than_one_undecided():
    undecided = metric(n_error=2, bound_low=0.6, bound_high=0.8)
    failed = metric(0.1, name="other", metric_key="o")
    verdict = judge_run(
        [outcome(10, 2)],
        [undecided, failed],
        RunSettings(Path("s"), max_error_rate=1.0, fail_under={"accuracy": 0.7, "other": 0.5}),
    )
    assert verdict.exit_code == GATE_FAILED
    assert verdict.words == ("gate failed: spec other is 0.1, under 0.5",)


def test_rows_that_are_excluded_are_neither_scored_nor_errors():
    assert outcome(10, 2, 3).n_scored == 5
