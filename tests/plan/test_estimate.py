from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.plan import RunSettings
from tasks_lib.plan.estimate import ASSUMED_REPLY
from tasks_lib.plan.explain import explain
from tasks_lib.plan.planner import plan_run
from tasks_lib.report.plan_text import plan_text
from tasks_lib.resolve import Overrides, resolve
from tests.engine import ASK, EQUALS, Engine, python_scorer, saying

PRICE = {"input": 1_000, "output": 2_000}
DATA = [{"q": "x" * 358, "a": "x"}] * 10  # 100 tokens as it is sent
JUDGE = {
    "type": "model_as_a_judge_classifier",
    "key": "judge",
    "model_key": "lab",
    "user_prompt": "{{ trace.get_last_assistant_text() }}",
    "correct_labels": ["correct"],
    "incorrect_labels": ["incorrect"],
}
TALK = {
    "type": "multi_turn_solver",
    "message_builders": [
        {
            "type": "loop",
            "max_iterations": 3,
            "message_builders": [
                {"type": "chat_message", "role": "user", "content": "{{ sample.q }}"},
                {"type": "generate", "terminate_if": {"includes": "END"}},
            ],
        }
    ],
}


@pytest.fixture
def foretold(tmp_path: Path):
    def make(
        price: Mapping[str, float] | None = PRICE, parameters: Any = None, **definition: Any
    ) -> dict[str, Any]:
        engine = Engine(tmp_path)
        model = {**saying(default="x"), "price": price, "parameters": parameters or {}}
        whole = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS], **definition}
        file = engine.write(whole, DATA, models=[model])
        plan, rows = plan_run(resolve(file, Overrides()), RunSettings(engine.store))
        return explain(plan, rows, 0)

    return make


def test_prompts_are_made_and_replies_assumed(foretold):
    (cost,) = foretold()["specs"][0]["costs"]
    assert (cost["prompt_tokens"], cost["reply_tokens"]) == (100, ASSUMED_REPLY)
    assert cost["reply_tokens_from"] == "assumed"
    usd = 10 * (100 * 1_000 + ASSUMED_REPLY * 2_000) / 1e6
    assert cost["least_usd"] == cost["most_usd"] == pytest.approx(usd, rel=0.01)


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens", "max_output_tokens"])
def test_a_limit_is_taken_for_the_length_of_replies(foretold, name: str):
    told = foretold(parameters={name: 50})
    (cost,) = told["specs"][0]["costs"]
    assert (cost["reply_tokens"], cost["reply_tokens_from"]) == (50, "limit")
    assert cost["most_usd"] == pytest.approx(10 * (100 * 1_000 + 50 * 2_000) / 1e6, rel=0.01)
    assert "replies of 50 tokens, the most there may be" in plan_text(told)


def test_a_conversation_shows_a_model_what_was_said_before(foretold):
    told = foretold(solver=TALK)
    (cost,) = told["specs"][0]["costs"]
    one = 10 * (100 * 1_000 + ASSUMED_REPLY * 2_000) / 1e6
    assert cost["least_usd"] == pytest.approx(one, rel=0.01)
    assert cost["most_usd"] == pytest.approx(
        3 * one + 10 * 6 * ASSUMED_REPLY * 1_000 / 1e6, rel=0.01
    )
    assert " to $" in plan_text(told)


def test_a_judge_is_shown_a_reply_of_the_length_taken(foretold):
    told = foretold(scorers=[JUDGE], parameters={"max_tokens": 1_000})
    solver, judge = told["specs"][0]["costs"]
    assert judge["caller"] == "scorer:judge"
    assert 1_000 < judge["prompt_tokens"] < 1_300
    whole = solver["least_usd"] + judge["least_usd"]
    assert told["estimated_cost_usd"]["least"] == pytest.approx(whole)


def test_what_is_called_any_number_of_times_has_no_most(foretold):
    code = "async def run_solver(sample, model):\n    return await model.predict([])\n"
    told = foretold(solver={"type": "python", "run_solver_snippet": code})
    (cost,) = told["specs"][0]["costs"]
    assert (cost["prompt_tokens"], cost["least_usd"], cost["most_usd"]) == (None, None, None)
    assert told["estimated_cost_usd"] is None
    assert "estimated cost: unknown, not all prompts can be foretold" in plan_text(told)


def test_nobody_is_told_of_the_cost_of_what_is_free(foretold):
    told = foretold(price=None)
    assert told["estimated_cost_usd"] == {"least": 0.0, "most": 0.0}
    assert "estimated cost" not in plan_text(told)


def test_a_task_without_calls_costs_nothing(foretold):
    scorer = python_scorer("def compute_scores(sample):\n    return {'s': 1}", "s")
    told = foretold(solver=None, scorers=[scorer])
    assert told["specs"][0]["costs"] == []
    assert "estimated cost" not in plan_text(told)
