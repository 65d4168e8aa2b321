"""What a plan says of calls, to people."""

import pytest

from tasks_lib.report.plan_text import plan_text

SPEC = {
    "key": "s", "task": "t", "model": "lab", "datasets": {"dataset": "qa"}, "config": {},
    "samples": 3, "trials": 1, "runs": 1, "concurrency": 10, "batches": 3, "batch_size": 1,
    "estimated_input_tokens": 1200, "estimate_covers": None, "scorers": [], "prompts": [],
}  # fmt: skip
PLAN = {
    "evaluation": "e", "samples": 3, "batches_at_once": 3, "store": "s", "warnings": [],
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
