from pathlib import Path
from typing import Any

import pytest

from tasks_lib.exit_codes import DONE, TOO_MANY_ERRORS
from tasks_lib.results.files import read_json
from tests.engine import ASK, EQUALS, Engine, Ran, python_scorer, saying


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def asked(engine: Engine, data: Any, *rules: Any, **more: Any) -> Ran:
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    return engine.run(definition, data, models=[saying(*rules, default="x")], **more)


FILTERED = {"error": {"status": 400, "message": "filtered"}}


@pytest.mark.parametrize("batch_size", [1, 3, 10])
def test_errors_leave_the_value_and_show_in_every_count(engine: Engine, batch_size: int):
    """BR-055."""
    data = [{"q": f"{i}?", "a": "x" if i < 6 else "y"} for i in range(8)]
    data += [{"q": "bad?", "a": "x"}] * 2
    ran = asked(engine, data, {"contains": "bad", **FILTERED}, batch_size=batch_size)
    row = ran.metrics["is_correct_mean"]
    assert {name: row[name] for name in ("value", "n", "n_total", "n_error", "n_excluded")} == {
        "value": 0.75,
        "n": 8,
        "n_total": 10,
        "n_error": 2,
        "n_excluded": 0,
    }
    assert (row["bound_low"], row["bound_high"]) == pytest.approx((0.6, 0.8))
    assert ran.result["exit_code"] == TOO_MANY_ERRORS
    assert {name: ran.spec[name] for name in ("n_rows", "n_scored", "n_error")} == {
        "n_rows": 10,
        "n_scored": 8,
        "n_error": 2,
    }
    assert ran.run.metrics()["value"].tolist() == [0.75]


def test_a_run_in_which_all_failed_has_failed(engine: Engine):
    """BR-059."""
    ran = asked(engine, [{"q": "?", "a": "x"}] * 3, {"contains": "?", **FILTERED})
    row = ran.metrics["is_correct_mean"]
    assert (row["value"], row["n"], row["n_error"]) == (None, 0, 3)
    assert row["reason"]
    assert (ran.result["status"], ran.result["exit_code"]) == ("failed", TOO_MANY_ERRORS)
    assert ran.run.record["status"] == "failed"
    assert ran.run.complete, "it reached its end"


def test_a_run_in_which_nothing_was_scored_has_failed(engine: Engine):
    """BR-059."""
    abstaining = python_scorer("def compute_scores(sample):\n    return {'s': None}", "s")
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [abstaining]}
    ran = engine.run(definition, [{"q": "?"}] * 2, models=[saying(default="x")])
    assert (ran.values["s"], ran.metrics["s"]["n_error"]) == (None, 0)
    assert (ran.result["status"], ran.result["exit_code"]) == ("failed", TOO_MANY_ERRORS)
    assert ran.result["warnings"] == ["no metric has a value"]


def test_replies_cut_at_the_limit_are_counted(engine: Engine):
    """BR-028."""
    cut = {"contains": "1?", "reply": "The answer is 4", "finish_reason": "length"}
    ran = asked(engine, [{"q": "1?", "a": "42"}, {"q": "2?", "a": "x"}], cut)
    assert list(ran.run.samples()["finish_reason"]) == ["length", "stop"]
    assert list(ran.run.scores("right")["is_correct"]) == [False, True]
    assert ran.result["exit_code"] == DONE
    assert ran.result["warnings"] == [
        "exam: 1 of 2 replies truncated at the token limit; they are scored as they are"
    ]


def test_replies_without_an_answer_are_told_apart(engine: Engine):
    """BR-031."""
    rules = [
        {"contains": "1?", "reply": ""},
        {"contains": "2?", "refusal": "I can't help with that."},
        {"contains": "3?", "reply": "Lyon"},
        {"contains": "4?", "reply": "  \n"},
    ]
    ran = asked(engine, [{"q": f"{i}?", "a": "Paris"} for i in range(1, 5)], *rules)
    assert ran.result["warnings"] == [
        "exam: MOST REPLIES SHOW NO ANSWER: 3 of 4 replies show no answer (2 empty, 1 refused)"
    ]
    reasons = ran.run.scores("right")["metadata"].tolist()
    assert ["no_answer" in (text or "") for text in reasons] == [True, True, False, True]
    assert "I can't help with that." in ran.run.samples()["raw_outputs"][1]


def test_a_reply_cut_before_its_answer_is_no_wrong_answer(engine: Engine):
    """BR-015."""
    cut = {"contains": "1?", "reply": "", "finish_reason": "length"}
    data = [{"q": f"{i}?", "a": "x"} for i in range(1, 4)]
    ran = asked(engine, data, cut)
    assert ran.result["warnings"] == [
        "exam: 1 of 3 replies truncated at the token limit; they are scored as they are",
        "exam: 1 of 3 replies show no answer (1 truncated with no answer)",
    ]


def test_run_json_tells_what_the_run_came_to(engine: Engine):
    data = [{"q": "12345678", "a": "x"}] * 2
    first = asked(engine, data)
    record = first.run.record
    assert (record["status"], record["exit_code"], record["warnings"]) == ("complete", DONE, [])
    assert record["calls"] == {
        "total": 2,
        "from_ledger": 0,
        "input_tokens": 4,
        "output_tokens": 2,
        "cost_usd": 0.0,
        "cost_without_ledger_usd": 0.0,
    }
    assert record["finished_at"] >= record["started_at"]
    again = asked(engine, data)
    assert again.run.record["calls"]["from_ledger"] == 2
    assert again.metrics.keys() == first.metrics.keys()


def test_a_metric_that_can_not_be_computed_leaves_the_others(engine: Engine):
    metrics = [
        {"type": "mean", "field": "missing", "name": "lost"},
        {"type": "mean", "field": "s", "name": "kept"},
    ]
    scorer = {
        **python_scorer("def compute_scores(sample):\n    return {'s': 1}"),
        "metrics": metrics,
    }
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [scorer]}
    ran = engine.run(definition, [{"q": "?"}], models=[saying(default="x")])
    assert ran.values == {"lost": None, "kept": 1.0}
    assert "no score has a field 'missing'" in ran.metrics["lost"]["reason"]
    assert ran.result["exit_code"] == DONE


def test_the_marker_of_the_end_is_written_last(engine: Engine):
    ran = asked(engine, [{"q": "?", "a": "x"}])
    folder = ran.run.folder
    written = folder.complete.stat().st_mtime_ns
    assert all(path.stat().st_mtime_ns <= written for path in folder.path.rglob("*.parquet"))
    assert read_json(folder.run_json)["status"] == "complete"
