from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.errors import DefinitionError, DefinitionErrors
from tasks_lib.plan import MAX_BATCHES_AT_ONCE, Plan, RunSettings, make_plan
from tasks_lib.plan.batches import MAX_TASK_RUNS
from tasks_lib.resolve import Overrides, ResolvedEvaluation, resolve
from tests.engine import ASK, EQUALS, Engine, saying

NOW = datetime(2026, 11, 30, 18, 5, 9, tzinfo=UTC)


@pytest.fixture
def evaluation(tmp_path: Path) -> ResolvedEvaluation:
    models = [{**saying(default="x"), "max_concurrent_requests": 20}]
    definition = {"dataset": {"key": "qa"}, "solver": ASK, "scorers": [EQUALS]}
    file = Engine(tmp_path).write(definition, [{"q": "?", "a": "x"}], models=models)
    return resolve(file, Overrides())


def planned(
    evaluation: ResolvedEvaluation, *counts: int, cuts: Any = None, **settings: Any
) -> Plan:
    """A plan of as many specifications as there are counts of samples."""
    (spec,) = evaluation.specs
    specs = tuple(replace(spec, key=f"s{i}") for i in range(len(counts)))
    rows: Any = {f"s{i}": range(count) for i, count in enumerate(counts)}
    return make_plan(
        replace(evaluation, specs=specs),
        rows,
        RunSettings(Path("store"), **settings),
        NOW,
        "0a1b2c",
        cuts,
    )


def test_the_run_id_tells_time_and_evaluation(evaluation: ResolvedEvaluation):
    plan = planned(evaluation, 3)
    assert plan.run_id == "20261130T180509Z-e-0a1b2c"
    assert plan.run_dir == Path("store/runs/20261130T180509Z-e-0a1b2c")
    long = replace(evaluation, key="k" * 250)
    assert len(planned(long, 3).run_id) < 200, "a folder's name has limits"


@pytest.mark.parametrize("run_id", ["a", "Nightly_2026-01.02", "0" * 200])
def test_a_run_id_may_be_given(evaluation: ResolvedEvaluation, run_id: str):
    assert planned(evaluation, 3, run_id=run_id).run_dir.name == run_id


@pytest.mark.parametrize(
    "run_id", ["../up", ".hidden", "a/b", "a b", "a\n", "ü", "-x", "0" * 201, "..", "a\0"]
)
def test_a_run_id_that_is_no_folder_name_is_refused(evaluation: ResolvedEvaluation, run_id: str):
    with pytest.raises(DefinitionError, match=r"(?s)^--run-id: '.*' can't be a run id; use"):
        planned(evaluation, 3, run_id=run_id)


def test_no_samples_are_refused_for_all_specifications_at_once(evaluation: ResolvedEvaluation):
    """BR-059."""
    with pytest.raises(DefinitionErrors) as caught:
        planned(evaluation, 3, 0, 0)
    assert [str(problem) for problem in caught.value.problems] == [
        f"specification '{key}' has no samples; check the dataset and its filters"
        for key in ("s1", "s2")
    ]


def test_batches_of_the_specifications_take_turns(evaluation: ResolvedEvaluation):
    plan = planned(evaluation, 2, 5, batch_size=2)
    assert list(plan.batches()) == [("s0", 0, 2), ("s1", 0, 2), ("s1", 2, 4), ("s1", 4, 5)]
    assert plan.n_samples == 7
    assert plan.spec("s1").batches == ((0, 2), (2, 4), (4, 5))


@pytest.mark.parametrize("counts", [(10_000,), (400, 400), (100_000, 1, 50), (51,) * 40])
@pytest.mark.parametrize("batch_size", [None, 1, 7])
def test_no_plan_has_more_task_runs_than_a_flow_run_bears(
    evaluation: ResolvedEvaluation, counts: tuple[int, ...], batch_size: int | None
):
    plan = planned(evaluation, *counts, batch_size=batch_size)
    assert 2 * len(list(plan.batches())) + len(counts) + 1 <= MAX_TASK_RUNS
    assert [spec.n_samples for spec in plan.specs] == list(counts)


def test_a_resumed_run_keeps_its_cuts(evaluation: ResolvedEvaluation):
    cuts = {"s0": ((0, 1), (1, 5))}
    assert planned(evaluation, 5, cuts=cuts, batch_size=2).spec("s0").batches == cuts["s0"]


@pytest.mark.parametrize(
    ("count", "settings", "concurrency", "at_once"),
    [
        pytest.param(10, {}, 20, 10, id="never more than there are"),
        pytest.param(200, {}, 20, 2, id="the tail of one and the head of the next"),
        pytest.param(1_000, {}, 20, 3, id="a batch fills the bound: two more"),
        pytest.param(1_000, {"batch_size": 10}, 20, 4, id="two batches fill the bound"),
        pytest.param(1_000, {"batch_size": 10, "max_connections": 5}, 5, 3, id="a tighter bound"),
        pytest.param(400, {"batch_size": 1, "max_connections": 500}, 20, 22, id="the model's own"),
    ],
)
def test_enough_batches_are_in_work_to_fill_the_bound(
    evaluation: ResolvedEvaluation,
    count: int,
    settings: dict[str, Any],
    concurrency: int,
    at_once: int,
):
    plan = planned(evaluation, count, **settings)
    assert plan.specs[0].concurrency == concurrency
    assert plan.batches_at_once == at_once


def test_there_are_never_more_batches_in_work_than_threads_are_good_for(
    evaluation: ResolvedEvaluation,
):
    assert planned(evaluation, *[1_000] * 30).batches_at_once == MAX_BATCHES_AT_ONCE
