"""Task result logs: the form they are written in, and that what they hold comes back."""

import math

import pyarrow.parquet as pq
import pytest

from tasks_lib.errors import StoreError
from tasks_lib.results.load import load_run
from tasks_lib.results.task_result.export import export_task_results
from tasks_lib.trace.evidence import TaskResultLog
from tests.engine import ASK, EQUALS, python_scorer, saying
from tests.results.task_result.logs import exported, run_file

DATA = [{"q": "2 + 2", "a": "4"}, {"q": "1 + 3", "a": "4"}, {"q": "5 - 1", "a": "4"}]
TASK = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
SAID = saying(["4"], ["5"], ["4"])

MIXED = python_scorer(
    """
def compute_scores(sample, solver_output):
    text = solver_output.trace.get_last_assistant_text()
    if text == "5":
        raise ValueError("five")
    return {"number": len(sample["q"]) / 3, "text": text + " é", "flag": text == "4",
            "all": [1, {"a": None}], "endless": float("inf"), "nothing": None}
""",
    "number",
    "endless",
    key="mixed",
)
POSTPROCESSOR = {
    "type": "python",
    "postprocess_snippet": """
def postprocess(sample, solver_output):
    return [({**sample, "part": n}, solver_output) for n in range(len(sample["q"]) - 4)]
""",
}
RULE = {
    "key": "no-minus",
    "action": "exclude_from_metrics",
    "filter": {"op": "equals", "expression": "{{ sample.q }}", "value": "5 - 1"},
}
ALL_AT_ONCE = {
    "type": "python_all_samples",
    "key": "together",
    "compute_scores_snippet": """
def compute_scores(samples):
    return [{"place": n} for n, _ in enumerate(samples)]
""",
    "metrics": [{"type": "mean", "field": "place", "name": "place"}],
}
JUDGE = {
    "type": "model_as_a_judge_classifier",
    "key": "judged",
    "model_key": "judge",
    "user_prompt": "Is {{ sample.q }} right?",
    "correct_labels": ["C"],
    "incorrect_labels": ["I"],
    "use_structured_outputs": False,
}
JUDGES = {**saying(default="C"), "key": "judge"}


def test_a_log_says_what_was_asked_and_done_and_what_came_of_it(engine):
    ran = engine.run(
        {**TASK, "scorers": [{**EQUALS, "display_name": "Right"}]}, DATA, models=[SAID]
    )
    export = exported(engine, ran)
    assert [str(file.relative_to(export.evaluation.parent)) for file in export.files] == [
        "e.yaml",
        "task_results/exam/task_result_log.json",
    ]
    log = export.log
    assert list(log)[:7] == [
        "format_version",
        "app_version",
        "status",
        "evidence",
        "specification",
        "execution",
        "errors",
    ]
    assert (log["format_version"], log["status"], log["errors"]) == ("v1", "success", [])
    specification = log["specification"]
    assert specification["display_name"] == "Exam (Lab)"
    assert specification["task"]["definition"]["scorers"][0]["key"] == "right"
    assert specification["config"] == {}
    assert specification["evaluated_entity"]["key"] == "lab"
    assert specification["run_config"] == {
        "num_samples": None,
        "subsampling": "head",
        "cache_policy": "reuse",
        "trials_config": None,
    }
    assert specification["repeatability_config"] is None
    execution = log["execution"]
    assert execution["runtime"] == pytest.approx(execution["ended_at"] - execution["started_at"])
    spent = ran.run.record["calls"]
    assert execution["model_usage"] == {
        "num_samples": 3,
        "num_completion_tokens": spent["output_tokens"],
        "num_prompt_tokens": spent["input_tokens"],
    }
    evidence = log["evidence"]
    assert list(evidence) == [
        "metrics",
        "samples",
        "runs",
        "errors",
        "failures",
        "model_token_usages",
    ]
    assert (evidence["runs"], evidence["errors"]) == (None, [])
    assert evidence["failures"] == {"num_errors": 0, "num_total": 3}
    (usage,) = evidence["model_token_usages"]
    assert (usage["model_id"], usage["purpose"]) == (0, "test")
    (metric,) = evidence["metrics"]
    assert metric["values"] == {"is_correct_mean": pytest.approx(2 / 3)}
    assert metric["metric_type"] == "mean"
    assert [metric[name] for name in ("scorer_key", "scorer_name", "scorer_purpose")] == [
        "right",
        "Right",
        "score",
    ]


def test_without_trials_a_samples_content_is_that_of_its_only_trial(engine):
    ran = engine.run(TASK, DATA, models=[SAID])
    sample = exported(engine, ran).samples[1]
    assert {key: sample[key] for key in ("sample_id", "sample", "solver", "scores")} == {
        "sample_id": "1",
        "sample": None,
        "solver": None,
        "scores": None,
    }
    assert (sample["action_records"], sample["errors"]) == ([], [])
    (trial,) = sample["trials"]
    assert (trial["index"], trial["sample_id"]) == (0, "1")
    assert trial["sample"] == {"data": DATA[1]}
    (score,) = trial["scores"]
    assert score["values"] == {"is_correct": False}
    output = trial["solver"]["output"]
    assert [item["role"] for item in output["trace"]["items"]] == ["user", "assistant"]
    assert output["raw_outputs"][0]["choices"][0]["message"]["content"] == "5"
    assert output["direct_ios"] == []


def test_the_typed_log_of_snippets_reads_what_is_written(engine):
    ran = engine.run({**TASK, "scorers": [EQUALS, MIXED]}, DATA, models=[SAID])
    log = TaskResultLog.model_validate_json(exported(engine, ran).path.read_bytes())
    assert log.evidence.samples[0].trials[0].solver.output.trace.get_last_assistant_text() == "4"
    assert log.evidence.samples[0].trials[0].scores[1].values["text"] == "4 é"
    assert log.evidence.failures.num_errors == 1
    (error,) = log.evidence.samples[1].trials[0].errors
    assert (error.stage, error.error_type) == ("score", "code")
    assert error.message.endswith("ValueError: five")


def test_numbers_that_are_not_finite_are_bare_constants(engine):
    export = exported(engine, engine.run({**TASK, "scorers": [MIXED]}, DATA, models=[SAID]))
    assert '"endless":Infinity' in export.path.read_text()
    values = export.samples[0]["trials"][0]["scores"][0]["values"]
    assert math.isinf(values["endless"])
    assert values["nothing"] is None


def test_errors_are_told_with_their_stage_where_they_happened(engine):
    said = saying({"sample_id": "0", "reply": "4"}, {"sample_id": "2", "reply": "5"})
    ran = engine.run({**TASK, "scorers": [MIXED, EQUALS]}, DATA, models=[said])
    export = exported(engine, ran)
    assert [len(sample["errors"]) for sample in export.samples] == [0, 1, 1]
    (solver,) = export.samples[1]["trials"][0]["errors"]
    assert solver["stage"] == "solver"
    assert set(solver) == {"error_type", "message", "hint", "stage"}
    assert export.samples[1]["trials"][0]["solver"] is None
    assert export.samples[1]["trials"][0]["scores"] == []
    (score,) = export.samples[2]["trials"][0]["errors"]
    assert (score["stage"], score["scorer_key"]) == ("score", "mixed")
    assert export.log["evidence"]["failures"] == {"num_errors": 2, "num_total": 3}


def test_a_task_of_which_no_metric_came_has_failed(engine):
    ran = engine.run({**TASK, "scorers": [MIXED]}, DATA[1:2], models=[saying(["5"])])
    log = exported(engine, ran).log
    assert log["status"] == "failure"
    assert {error["stage"] for error in log["evidence"]["errors"]} == {"metric"}
    assert log["evidence"]["metrics"][0]["values"] == {}
    assert log["evidence"]["metrics"][0]["reason"]


def test_trials_are_listed_and_their_aggregates_are_the_samples_scores(engine):
    aggregators = [{"score_name": "is_correct", "aggregator": {"function": "pass@k", "k": 2}}]
    trials = {"num_trials": 2, "score_aggregators": aggregators}
    said = saying(["4", "5"], ["4", "4"], ["5", "5"])
    ran = engine.run({**TASK, "trials": trials, "actions": [RULE]}, DATA, models=[said])
    export = exported(engine, ran)
    first = export.samples[0]
    assert [trial["index"] for trial in first["trials"]] == [0, 1]
    assert [trial["scores"][0]["values"]["is_correct"] for trial in first["trials"]] == [
        True,
        False,
    ]
    assert first["scores"][0]["values"] == {"is_correct": 0.5, "is_correct.pass@2": 0.75}
    assert first["sample"] == {"data": DATA[0]}
    assert [sample["action_records"] for sample in export.samples] == [
        [],
        [],
        [{"action": "exclude_from_metrics", "rule_key": "no-minus"}],
    ]
    assert export.log["specification"]["run_config"]["trials_config"] == {"num_trials": 2}
    assert export.log["execution"]["model_usage"]["num_samples"] == 6


def test_runs_of_a_specification_stand_by_themselves(engine):
    said = saying(["4", "5"], ["4", "4"], ["5", "5"])
    repeated = {"repeatability": {"num_runs": 2}}
    ran = engine.run(TASK, DATA, models=[said], specification=repeated)
    log = exported(engine, ran).log
    evidence = log["evidence"]
    assert evidence["samples"] is None
    assert [run["index"] for run in evidence["runs"]] == [0, 1]
    assert [run["metrics"][0]["values"] for run in evidence["runs"]] == [
        {"is_correct_mean": pytest.approx(2 / 3)},
        {"is_correct_mean": pytest.approx(1 / 3)},
    ]
    assert [run["failures"]["num_total"] for run in evidence["runs"]] == [3, 3]
    second = evidence["runs"][1]["samples"][0]["trials"]
    assert [trial["scores"][0]["values"] for trial in second] == [{"is_correct": False}]
    names = {name for metric in evidence["metrics"] for name in metric["values"]}
    assert names == {"is_correct_mean_mean", "is_correct_mean_std", "is_correct_agreement_mean"}
    assert log["specification"]["repeatability_config"] == {"num_runs": 2}


def test_tokens_of_judges_are_counted_apart(engine):
    ran = engine.run({**TASK, "scorers": [JUDGE]}, DATA, models=[SAID, JUDGES])
    usages = exported(engine, ran).log["evidence"]["model_token_usages"]
    assert [(usage["model_key"], usage["purpose"]) for usage in usages] == [
        ("lab", "test"),
        ("judge", "judge"),
    ]


def test_a_run_that_is_not_complete_is_not_exported(engine, tmp_path):
    ran = engine.run(TASK, DATA, models=[SAID])
    ran.run.folder.complete.unlink()
    with pytest.raises(StoreError, match="is not complete"):
        export_task_results(load_run(ran.run.folder.path), tmp_path / "out")
    assert not (tmp_path / "out").exists()


TRIALS = {"num_trials": 3, "score_aggregators": [
    {"score_name": "is_correct", "aggregator": {"function": "pass^k", "k": 2}}
]}  # fmt: skip
SYSTEM = {
    "type": "system_task",
    "compute_evidence_snippet": """
def compute_evidence():
    return {"metrics": {"lines": {"value": 3, "reason": "counted"}, "share": {"value": 0.5}}}
""",
}
CASES = {
    "one trial": (TASK, SAID, {}),
    "scores of every kind, and a failed scorer": (
        {**TASK, "scorers": [EQUALS, MIXED, {**MIXED, "key": "checks", "purpose": "qa"}]},
        SAID,
        {},
    ),
    "failed samples": (TASK, saying({"sample_id": "0", "reply": "4"}), {}),
    "a rule": ({**TASK, "actions": [RULE]}, SAID, {}),
    "rows made of samples": (
        {**TASK, "solver": {**ASK, "postprocessor": POSTPROCESSOR}},
        SAID,
        {},
    ),
    "all samples at once": ({**TASK, "scorers": [ALL_AT_ONCE, EQUALS]}, SAID, {}),
    "no solver": (
        {"dataset": {"key": "qa"}, "scorers": [ALL_AT_ONCE]},
        SAID,
        {},
    ),
    "trials, some failed": (
        {**TASK, "trials": TRIALS, "scorers": [EQUALS, MIXED], "actions": [RULE]},
        saying(["4", "5", "4"], ["5", "5", "5"], ["4"]),
        {},
    ),
    "a judge": ({**TASK, "scorers": [JUDGE]}, SAID, {}),
    "runs": (TASK, saying(["4", "5"], ["4", "4"], ["5"]), {"repeatability": {"num_runs": 2}}),
    "no samples": (SYSTEM, SAID, {}),
}


@pytest.mark.parametrize(("definition", "said", "specification"), CASES.values(), ids=CASES)
def test_what_was_exported_comes_back_without_a_call(engine, definition, said, specification):
    ran = engine.run(definition, DATA, models=[said, JUDGES], specification=specification)
    export = exported(engine, ran)
    (engine.folder / "qa.jsonl").unlink()  # the data isn't needed, nor is the model
    loaded = run_file(engine, export.evaluation, "loaded")

    left, right = (pq.read_table(run.folder.metrics) for run in (ran.run, loaded.run))
    assert left.equals(right, check_metadata=True)
    assert loaded.run.record["calls"]["total"] == 0
    assert loaded.result["exit_code"] == ran.result["exit_code"]
    counts = ("n_samples", "n_rows", "n_scored", "n_error", "n_excluded", "num_trials", "num_runs")
    assert [loaded.spec[name] for name in counts] == [ran.spec[name] for name in counts]
    if definition is not SYSTEM:
        made = ["calls", "ledger_hits"]
        before, after = ran.run.samples(), loaded.run.samples()
        assert after.drop(columns=made).equals(before.drop(columns=made))
        assert loaded.run.scores().equals(ran.run.scores())

    before, after = (exported(engine, run).log for run in (ran, loaded))
    assert after["evidence"]["metrics"] == before["evidence"]["metrics"]
    assert after["status"] == before["status"]


def test_a_linked_evaluation_is_loaded_again_when_its_run_is_repeated(engine):
    export = exported(engine, engine.run(TASK, DATA, models=[SAID]))
    loaded = run_file(engine, export.evaluation, "loaded")
    again = run_file(engine, loaded.run.folder.resolved, "again")
    assert again.values == loaded.values
    assert again.run.record["calls"]["total"] == 0


def test_an_evaluation_without_links_is_run(engine):
    ran = engine.run(TASK, DATA, models=[SAID])
    export = exported(engine, ran, link=False)
    assert "task_result_log_path" not in export.evaluation.read_text()
    assert run_file(engine, export.evaluation, "again").values == ran.values
