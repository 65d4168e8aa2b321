from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.plan.gates import check_gates
from tasks_lib.resolve import Overrides, resolve
from tests.engine import ASK, Engine, python_scorer, saying

SCORES = """
def compute_scores(sample, solver_output):
    said = solver_output.trace.get_last_assistant_text()
    return {"hit": said == sample["a"], "said": said, "truth": sample["a"], "tp": 1, "no": 0}
"""
OWN = "def compute_metrics(scores): return {'odd': 1.0, 'even': 2.0}"
COUNTS = {"num_true_positives_field": "tp"}
METRICS: list[dict[str, Any]] = [
    {"type": "mean", "field": "hit"},
    {"type": "mean", "field": "hit", "name": "Share of hits"},
    {"type": "min", "field": "tp"},
    {"type": "max", "field": "tp", "key": "top"},
    {"type": "std_dev", "field": "tp"},
    {"type": "frequency", "field": "said"},
    {"type": "weighted_average", "field": "said", "weights": {"x": 1.0, "y": 0.5}},
    {"type": "precision", "num_false_positives_field": "no", **COUNTS},
    {"type": "recall", "num_false_negatives_field": "no", **COUNTS, "name": "Found"},
    {
        "type": "f1_score",
        "num_false_positives_field": "no",
        "num_false_negatives_field": "no",
        **COUNTS,
    },
    {
        "type": "binary-classification",
        "key": "two",
        "field_gt": "truth",
        "field_pred": "said",
        "positive_answer": "x",
        "negative_answer": "y",
    },
    {"type": "multiclass-classification", "key": "many", "field_gt": "truth", "field_pred": "said"},
]
DATA = [{"q": "?", "a": "x"}, {"q": "!", "a": "y"}]


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return Engine(tmp_path)


def written(engine: Engine, metrics: Any, **more: Any) -> Path:
    scorer = {**python_scorer(SCORES), "metrics": metrics}
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [scorer]}
    return engine.write(definition, DATA, models=[saying(["x"], ["x"])], **more)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric["type"])
@pytest.mark.parametrize("runs", [1, 2])
def test_whatever_a_metric_comes_to_may_have_a_gate(engine: Engine, metric: Any, runs: int):
    repeated = {"specification": {"repeatability": {"num_runs": runs}}} if runs > 1 else {}
    file = written(engine, [metric], **repeated)
    evaluation = resolve(file, Overrides())
    rows = engine.run().result["metrics"]
    assert rows
    check_gates(evaluation, {row["name"] for row in rows} | {row["metric_key"] for row in rows})
    with pytest.raises(DefinitionErrors, match="no metric is named 'never_heard_of_it'"):
        check_gates(evaluation, ["never_heard_of_it"])


def test_what_only_the_end_tells_is_not_refused(engine: Engine):
    file = written(engine, [{"type": "python", "compute_metrics_snippet": OWN}])
    check_gates(resolve(file, Overrides()), ["odd", "anything"])


def test_all_unknown_names_are_told_with_those_there_are(engine: Engine):
    evaluation = resolve(written(engine, METRICS[:3]), Overrides())
    with pytest.raises(DefinitionErrors) as refused:
        check_gates(evaluation, ["hit_maen", "hit_mean", "zzz"])
    near, far = refused.value.problems
    assert str(near) == "--fail-under: no metric is named 'hit_maen'; did you mean 'hit_mean'?"
    assert far.fix.startswith("the metrics: hit_mean, mean_hit, Share of hits, ")
