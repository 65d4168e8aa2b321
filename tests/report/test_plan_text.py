"""What a plan says of calls, to people."""

import pytest

from tasks_lib.plan.prices import HOW_TO_PRICE
from tasks_lib.report.plan_text import plan_text

SPEC = {
    "key": "s", "task": "t", "model": "lab", "datasets": {"dataset": "qa"}, "config": {},
    "samples": 3, "trials": 1, "runs": 1, "concurrency": 10, "batches": 3, "batch_size": 1,
    "estimated_input_tokens": 1200, "estimate_covers": None, "scorers": [], "prompts": [],
    "calls": {}, "costs": [],
}  # fmt: skip
PLAN = {
    "evaluation": "e", "samples": 3, "batches_at_once": 3, "store": "s", "warnings": [],
    "unpriced": [], "estimated_cost_usd": {"least": 0.0, "most": 0.0},
}  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "covers", "lines"),
    [
        pytest.param({}, None, ["no model calls"], id="none"),
        pytest.param(
            {"lab": {"least": 3000, "most": 3000}}, "all calls",
            ["3,000 calls of lab, 10 at a time, about 1,200 tokens"], id="a known number",
        ),
        pytest.param(
            {"lab": {"least": 3, "most": 12}, "user": {"least": 1, "most": 1}}, "first calls",
            ["3 to 12 calls of lab, 10 at a time, first prompts about 1,200 tokens",
             "1 call of user"],
            id="a range, and a helper",
        ),
        pytest.param(
            {"lab": {"least": 0, "most": None}}, None,
            ["any number of calls of lab, 10 at a time"], id="an author's own solver",
        ),
    ],
)  # fmt: skip
def test_calls(calls, covers, lines):
    spec = {**SPEC, "calls": calls, "estimate_covers": covers}
    text = plan_text({**PLAN, "specs": [spec]}).splitlines()
    assert [line.strip() for line in text if "call" in line] == lines


OF_MODEL = {
    "model": "lab", "caller": "solver", "calls": {"least": 3, "most": 3}, "prompt_tokens": 1_200,
    "reply_tokens": 300, "reply_tokens_from": "assumed", "least_usd": 0.25, "most_usd": 0.25,
}  # fmt: skip
OF_JUDGE = {
    **OF_MODEL, "model": "judge", "caller": "scorer:strict", "reply_tokens_from": "limit",
    "most_usd": 0.5,
}  # fmt: skip


@pytest.mark.parametrize(
    ("costs", "plan", "lines"),
    [
        pytest.param([], {}, [], id="free"),
        pytest.param(
            [OF_MODEL, OF_JUDGE], {"estimated_cost_usd": {"least": 0.5, "most": 0.75}},
            ["about $0.250 for lab: first prompts of 1,200 tokens, replies taken for 300 tokens",
             "about $0.250 to $0.500 for judge in scorer strict: first prompts of 1,200 tokens, "
             "replies of 300 tokens, the most there may be",
             "estimated cost: about $0.500 to $0.750, less what is recorded"],
            id="a model and a judge",
        ),
        pytest.param(
            [{**OF_MODEL, "most_usd": None}], {"estimated_cost_usd": {"least": 2.0, "most": None}},
            ["$0.250 or more for lab: first prompts of 1,200 tokens, "
             "replies taken for 300 tokens",
             "estimated cost: $2.00 or more, less what is recorded"],
            id="no end",
        ),
        pytest.param(
            [], {"estimated_cost_usd": None, "unpriced": ["lab", "judge"]},
            ["estimated cost: unknown, there is no price for model 'lab', 'judge'; "
             + HOW_TO_PRICE],
            id="no price",
        ),
        pytest.param(
            [], {"estimated_cost_usd": None},
            ["estimated cost: unknown, not all prompts can be foretold"], id="no prompts",
        ),
    ],
)  # fmt: skip
def test_costs(costs, plan, lines):
    text = plan_text({**PLAN, **plan, "specs": [{**SPEC, "costs": costs}]}).splitlines()
    found = [line.strip() for line in text if "$" in line or "cost" in line]
    assert found == lines
