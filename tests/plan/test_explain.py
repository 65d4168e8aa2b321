from pathlib import Path
from typing import Any

import pytest

from tasks_lib.plan import RunSettings
from tasks_lib.plan.explain import explain
from tasks_lib.plan.planner import plan_run
from tasks_lib.report.plan_text import plan_text
from tasks_lib.resolve import Overrides, resolve
from tests.engine import ASK, EQUALS, Engine, saying


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def explained(engine: Engine, data: Any, show: int = 0, **definition: Any) -> dict[str, Any]:
    whole = {"dataset": {"key": "qa"}, "scorers": [EQUALS], **definition}
    file = engine.write(whole, data, models=[saying(default="x")] if "solver" in whole else [])
    plan, rows = plan_run(resolve(file, Overrides()), RunSettings(engine.store))
    return explain(plan, rows, show)


def test_calls_batches_and_tokens_are_foretold(engine: Engine):
    found = explained(engine, [{"q": "x" * 400, "a": "x"}] * 60, solver=ASK)
    assert (found["evaluation"], found["samples"], found["cache"]) == ("e", 60, "reuse")
    (spec,) = found["specs"]
    assert (spec["task"], spec["model"], spec["datasets"]) == ("exam", "lab", {"dataset": "qa"})
    assert spec["calls"] == {"lab": {"least": 60, "most": 60}}
    assert (spec["batches"], spec["batch_size"], spec["concurrency"]) == (2, 50, 10)
    assert 6_000 <= spec["estimated_input_tokens"] <= 7_500
    assert spec["estimate_covers"] == "all calls"
    assert spec["scorers"] == ["right"]
    assert spec["prompts"] == []


def test_prompts_are_shown_as_they_would_be_sent(engine: Engine):
    data = [{"q": "one?", "a": "x"}, {"a": "x"}, {"q": "three?", "a": "x"}]
    found = explained(engine, data, show=2, solver=ASK)
    first, second = found["specs"][0]["prompts"]
    assert first == {
        "sample_id": "0",
        "input": {"messages": [{"role": "user", "content": "one?"}]},
    }
    assert "'q'" in second["error"]
    text = plan_text(found)
    assert "user: one?" in text
    assert "can't be rendered" in text


def test_more_samples_may_be_asked_for_than_there_are(engine: Engine):
    found = explained(engine, [{"q": "?", "a": "x"}], show=100, solver=ASK)
    assert len(found["specs"][0]["prompts"]) == 1


def test_a_task_without_a_model_calls_none_and_shows_its_samples(engine: Engine):
    scorer = {**EQUALS, "value": "{{ sample.a }}"}
    found = explained(engine, [{"a": "x"}], show=1, scorers=[scorer])
    (spec,) = found["specs"]
    assert (spec["calls"], spec["estimated_input_tokens"]) == ({}, 0)
    assert spec["prompts"] == [{"sample_id": "0", "sample": {"a": "x"}}]


def test_explaining_writes_nothing(engine: Engine):
    explained(engine, [{"q": "?", "a": "x"}], solver=ASK)
    assert not engine.store.exists()
