"""Whole runs with authors' code that hangs, dies and bloats: it costs its own rows."""

import asyncio
import time

import pytest

from tasks_lib.models.calls import Calls
from tests.engine import ASK, python_scorer, saying

ROWS = [{"q": str(n)} for n in range(6)]
DATASET = {"key": "qa"}

SCORES = """
import os, time
def compute_scores(sample):
    if sample["q"] == "2":
        {hang}
    return {{"a": 1}}
"""


@pytest.mark.parametrize(
    ("isolation", "hang", "words"),
    [
        ("thread", "time.sleep(5)", "took longer than 0.5 seconds"),
        ("process", "time.sleep(5)", "took longer than 0.5 seconds"),
        ("process", "os._exit(3)", "ended with exit code 3"),
        ("process", "'x' * 10**10", "MemoryError"),
    ],
)
def test_a_row_is_lost_and_no_other(engine, isolation, hang, words):
    scorer = python_scorer(SCORES.format(hang=hang), "a", isolation=isolation, timeout=0.5)
    if isolation == "process":
        scorer |= {"memory_limit_mb": 1000, "timeout": 0.5 if "sleep" in hang else 20}
    ran = engine.run({"dataset": DATASET, "scorers": [scorer]}, ROWS)
    scores = ran.run.scores("own")
    assert list(scores["status"]) == ["ok", "ok", "error", "ok", "ok", "ok"]
    assert scores["error_class"][2] == "code"
    assert words in scores["error_message"][2]
    assert (ran.metrics["a"]["n"], ran.metrics["a"]["n_error"]) == (5, 1)


def test_an_all_samples_scorer_that_hangs_fails_its_rows(engine):
    source = "import time\ndef compute_scores(samples): time.sleep(5)"
    scorer = python_scorer(source, "a", type="python_all_samples", timeout=0.3)
    began = time.monotonic()
    ran = engine.run({"dataset": DATASET, "scorers": [scorer]}, ROWS)
    assert time.monotonic() - began < 4
    assert set(ran.run.scores("own")["status"]) == {"error"}


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_metric_that_hangs_is_missing_and_says_why(engine, isolation):
    metric = {
        "type": "python",
        "key": "slow",
        "compute_metrics_snippet": "import time\ndef compute_metrics(scores): time.sleep(5)",
        "timeout": 0.3,
        "isolation": isolation,
    }
    scorer = python_scorer("def compute_scores(sample): return {'a': 1}", metrics=[metric])
    ran = engine.run({"dataset": DATASET, "scorers": [scorer]}, ROWS)
    assert ran.metrics["slow"]["value"] is None
    assert "took longer than 0.3 seconds" in ran.metrics["slow"]["reason"]


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_postprocessor_that_hangs_costs_its_sample(engine, isolation):
    source = """
import asyncio
import time
def postprocess(sample, solver_output):
    if sample["q"] == "2":
        time.sleep(5)
    return [({**sample, "half": n}, solver_output) for n in (1, 2)]
"""
    solver = {
        "type": "pass_through_solver",
        "trace_column": "trace",
        "postprocessor": {
            "type": "python",
            "postprocess_snippet": source,
            "timeout": 0.5,
            "isolation": isolation,
        },
    }
    trace = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
    scorer = python_scorer("def compute_scores(sample): return {'a': sample['half']}", "a")
    rows = [{**row, "trace": trace} for row in ROWS]
    definition = {"dataset": DATASET, "solver": solver, "scorers": [scorer]}
    ran = engine.run(definition, rows, models=[saying(default="")])
    samples = ran.run.samples()
    assert list(samples["status"]).count("ok") == 10
    assert "took longer" in samples[samples["status"] == "error"]["error_message"].item()


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_a_system_task_that_hangs_says_so(engine, isolation):
    definition = {
        "type": "system_task",
        "compute_evidence_snippet": "import time\ndef compute_evidence(): time.sleep(5)",
        "timeout": 0.3,
        "isolation": isolation,
    }
    ran = engine.run(definition)
    assert ran.result["exit_code"] == 3
    assert any("took longer than 0.3 seconds" in words for words in ran.run.record["warnings"])


def test_a_batch_that_hangs_is_given_up(engine, monkeypatch):
    """Whatever it hangs in: here a call that has got past every limit of its own."""

    async def never(self, *args, **options):
        if self.sample_id == "2":
            await asyncio.sleep(60)
        return await answer(self, *args, **options)

    answer = Calls.predict
    monkeypatch.setattr(Calls, "predict", never)
    monkeypatch.setattr("tasks_lib.runs.run.Run.patience", lambda self, *limits: 0.5)
    definition = {"dataset": DATASET, "solver": ASK, "scorers": []}
    ran = engine.run(definition, ROWS, models=[saying(default="x")])
    samples = ran.run.samples()
    assert list(samples["status"]) == ["ok", "ok", "error", "ok", "ok", "ok"]
    assert samples["error_class"][2] == "infra"
    assert "nothing of its batch came to an end" in samples["error_message"][2]
