"""Runs against a server that fails in every way: each row ends as it has to, none twice."""

import pytest

from tests.benchmarks.chaos import ALL_KINDS, FINAL, TELLING, bodies_of, differences, foretell
from tests.e2e.lab import jsonl, model, questions, same_metrics
from tests.fake_openai import Config

COUNT = 150
TRANSIENT = ",".join(kind for kind in ALL_KINDS.split(",") if kind not in FINAL | TELLING)


@pytest.fixture
def faultless(lab, tmp_path):
    """The run as it is when nothing fails."""
    lab.write(
        qa_jsonl=questions(COUNT, wrong=40),
        model_yaml=model(lab.server.base_url, more="timeout: 4\n"),
    )
    ran = lab.run(store=tmp_path / "faultless")
    assert ran.exit_code == 0
    return ran.run


def failing(lab, faultless, **options):
    """Run against a failing server; return how it went and what had to become of it."""
    options = {"retry_after_s": 0.1, **options}
    forecast = foretell(Config(**options), bodies_of(faultless))
    lab.server.reset(**options)
    return lab.run("-j", "50"), forecast


@pytest.mark.parametrize("seed", [1, 2])
def test_every_row_ends_as_it_has_to(lab, faultless, seed):
    ran, forecast = failing(lab, faultless, fault_rate=0.4, faults=ALL_KINDS, seed=seed)
    assert {*forecast.fates.values()} == {"same", "other", "error"}
    assert differences(ran.run, faultless, forecast) == []
    assert (ran.exit_code, lab.asked) == (3, forecast.requests)


def test_faults_that_pass_leave_no_trace_in_the_numbers(lab, faultless):
    ran, forecast = failing(lab, faultless, fault_rate=0.4, faults=TRANSIENT, fault_attempts=3)
    assert {*forecast.fates.values()} == {"same"}
    assert differences(ran.run, faultless, forecast) == []
    assert (ran.exit_code, lab.asked) == (0, forecast.requests)
    assert same_metrics(ran.run, faultless)


def test_what_is_scored_all_the_same_is_counted_in_warnings(lab):
    """BR-015, BR-016, BR-028, BR-031: no such reply looks like a wrong answer, or stops a run."""
    kinds = ["plain", *sorted(TELLING), "nousage"]
    rows = [{"question": f"FAULT={kind} ANSWER=Paris", "target": "Paris"} for kind in kinds]
    lab.write(qa_jsonl=jsonl(rows))
    ran = lab.run()
    assert (ran.exit_code, lab.asked) == (0, len(kinds))
    equal = ran.run.scores()["is_correct"]
    right = [kind for kind, is_right in zip(kinds, equal, strict=True) if is_right]
    assert right == ["plain", "nousage"]
    assert ran.run.record["warnings"] == [
        "exam: 2 of 8 replies truncated at the token limit; they are scored as they are",
        "exam: 1 of 8 replies state no token counts; they count as 0",
        "exam: MOST REPLIES SHOW NO ANSWER: 5 of 8 replies show no answer "
        "(1 empty, 1 with reasoning only, 2 refused, 1 truncated with no answer)",
    ]
    assert all(warning in ran.stderr for warning in ran.run.record["warnings"])
