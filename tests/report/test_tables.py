from typing import Any

import pytest
from rich.console import Console

from tasks_lib.report.tables import metrics_table, number, reasons, runs_table


def metric(**fields: Any) -> dict[str, Any]:
    row = {"spec_key": "exam", "model_key": "lab", "scorer_key": "right", "purpose": "score"}
    numbers = {"value": 0.75, "ci_low": 0.409, "ci_high": 0.9285}
    counts = {"n": 8, "n_error": 2, "n_skipped": 0}
    bounds = {"bound_low": 0.6, "bound_high": 0.8}
    return {**row, "name": "accuracy", "reason": None, **numbers, **counts, **bounds, **fields}


def shown(table: Any) -> list[str]:
    console = Console(width=160, no_color=True)
    with console.capture() as capture:
        console.print(table)
    return [line.rstrip() for line in capture.get().splitlines() if line.strip()]


def test_a_metric_shows_its_interval_counts_and_bounds():
    """BR-055."""
    lines = shown(metrics_table([metric()]))
    assert lines[0].split() == [
        *("scorer", "metric", "value", "95%", "interval", "n", "errors"),
        *("if", "errors", "were", "worst…best"),
    ]
    cells = ["right", "accuracy", "0.75", "0.409", "…", "0.9285", "8", "2", "0.6", "…", "0.8"]
    assert lines[-1].split() == cells


def test_without_errors_there_are_no_bounds():
    assert shown(metrics_table([metric(n_error=0)]))[-1].split()[-1] == "0"


def test_skipped_rows_are_counted_beside_errors():
    lines = shown(metrics_table([metric(n_error=0, n_skipped=2)]))
    assert lines[0].endswith("n   errors   skipped   if the rest were worst…best")
    assert lines[-1].split()[-6:] == ["8", "0", "2", "0.6", "…", "0.8"]


def test_what_has_no_value_is_a_dash_and_a_reason():
    row = metric(value=None, ci_low=None, ci_high=None, reason="no row was scored")
    assert shown(metrics_table([row]))[-1].split()[2:4] == ["-", "-"]
    assert reasons([row, metric()]) == ["right.accuracy: no row was scored"]


def test_headline_metrics_come_before_those_of_the_evaluation_itself():
    rows = [metric(name="agreement", purpose="qa"), metric()]
    lines = shown(metrics_table(rows))
    assert "accuracy" in lines[-2]
    assert "agreement (qa)" in lines[-1]


@pytest.mark.parametrize(
    ("other", "head"),
    [({"spec_key": "two"}, ["task"]), ({"model_key": None}, ["model"])],
)
def test_what_differs_between_rows_gets_a_column(other: dict[str, Any], head: list[str]):
    lines = shown(metrics_table([metric(), metric(**other)]))
    assert lines[0].split()[:1] == head


def test_names_can_neither_colour_nor_break_the_table():
    """BR-030."""
    lines = shown(metrics_table([metric(name="[red]\x1b[31m\nx[/red]")]))
    assert r"[red]\x1b[31m x[/red]" in lines[-1]


@pytest.mark.parametrize(
    ("value", "text"), [(None, "-"), (0.0, "0"), (1 / 3, "0.3333"), (1234567.0, "1.235e+06")]
)
def test_numbers_have_four_digits(value: float | None, text: str):
    assert number(value) == text


def test_runs_show_how_they_went():
    spec = {"n_samples": 1_200, "n_error": 3, "model_key": "lab"}
    done = {
        "run_id": "run-1",
        "status": "complete",
        "started_at": "2026-11-30T18:05:09.123Z",
        "specs": [spec, {**spec, "model_key": "other"}],
    }
    running = {
        **done,
        "run_id": "run-2",
        "status": "running",
        "specs": [{"n_samples": 5, "n_error": None, "model_key": None}],
    }
    first, second = shown(runs_table([done, running]))[-2:]
    assert first.split() == [
        *("run-1", "complete", "2026-11-30", "18:05:09", "2,400", "6", "lab,", "other")
    ]
    assert second.split()[-3:] == ["5", "-", "-"]
