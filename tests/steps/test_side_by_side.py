"""Tasks that read several datasets side by side (`keys`)."""

import pytest

from tasks_lib.errors import DefinitionError
from tasks_lib.resolve import Overrides
from tests.engine import python_scorer, saying

LEFT = [{"sample_id": f"l{n}", "v": n} for n in range(4)]
RIGHT = [{"sample_id": f"r{n}", "v": 10 * n} for n in range(4)]
PARAMETERS = [
    {"type": "dataset", "key": "left", "display_name": "L", "default_value": "one"},
    {"type": "dataset", "key": "right", "display_name": "R", "default_value": "two"},
]
KEYS = {"keys": ["<< config.left >>", "<< config.right >>"]}
SUMS = """
def compute_scores(sample):
    return {"sum": sample["<< config.left >>"]["v"] + sample["<< config.right >>"]["v"]}
"""
WHOLE = """
def compute_scores(samples):
    left, right = samples["<< config.left >>"], samples["<< config.right >>"]
    assert list(samples) == ["left", "right"]
    return [{"of_left": row["v"], "n_right": len(right), "n_left": len(left)} for row in left]
"""
EACH = python_scorer(SUMS, "sum", key="each")
TOGETHER = {
    **python_scorer(WHOLE, "of_left", "n_left", "n_right", key="whole"),
    "type": "python_all_samples",
}
ASK = {
    "type": "single_turn_solver",
    "input_builder": {
        "type": "chat_completion",
        "input_messages": [
            {"role": "user", "content": "{{ sample.left.v }} {{ sample['<< config.right >>'].v }}"}
        ],
    },
}


def side_by_side(engine, scorers, left=LEFT, right=RIGHT, solver=None, dataset=KEYS, **more):
    definition = {"dataset": dataset, "scorers": scorers}
    if solver:
        definition["solver"] = solver
    return engine.run(
        definition,
        datasets={"one": left, "two": right},
        config_spec=more.pop("config_spec", PARAMETERS),
        **more,
    )


def test_a_sample_maps_the_parameters_names_to_rows(engine):
    """A placeholder that indexes the sample is the parameter's name, not the dataset's key."""
    ran = side_by_side(engine, [EACH])
    assert list(ran.run.scores("each")["sum"]) == [0, 11, 22, 33]
    assert list(ran.run.samples()["sample_id"]) == ["l0", "l1", "l2", "l3"]


def test_literal_keys_name_the_rows_themselves(engine):
    scorer = python_scorer(
        "def compute_scores(sample): return {'s': sample['one']['v'] - sample['two']['v']}", "s"
    )
    ran = side_by_side(engine, [scorer], dataset={"keys": ["one", "two"]}, config_spec=[])
    assert list(ran.run.scores()["s"]) == [0, -9, -18, -27]


def test_an_all_samples_scorer_gets_a_list_of_rows_of_each(engine):
    ran = side_by_side(engine, [EACH, TOGETHER])
    assert ran.values == {"sum": 16.5, "of_left": 1.5, "n_left": 4.0, "n_right": 4.0}


def test_with_a_solver_the_all_samples_scorer_gets_the_solved_rows(engine):
    scorer = {
        **python_scorer(
            "def compute_scores(samples, solver_outputs):\n"
            "    assert len(solver_outputs) == len(samples['left']) == len(samples['right'])\n"
            "    return [{'v': row['v']} for row in samples['left']]\n",
            "v",
        ),
        "type": "python_all_samples",
    }
    model = saying({"contains": "1 10", "error": {"status": 400}}, default="x")
    ran = side_by_side(engine, [scorer], solver=ASK, models=[model])
    assert list(ran.run.scores()["v"].dropna()) == [0, 2, 3]


def test_templates_of_a_solver_read_both_rows(engine):
    model = saying({"matches": r"^(\d) (\d+)$", "reply": r"\1+\2"})
    scorer = {"type": "string_equals", "ground_truth": "{{ sample.left.v }}+{{ sample.right.v }}"}
    assert side_by_side(engine, [scorer], solver=ASK, models=[model]).values == {
        "is_correct_mean": 1.0
    }


@pytest.mark.parametrize(
    ("scorers", "solver"),
    [
        pytest.param([EACH], None, id="a per-sample scorer"),
        pytest.param([TOGETHER, EACH], None, id="one of each"),
        pytest.param([TOGETHER], ASK, id="a solver"),
    ],
)
def test_who_pairs_rows_needs_equal_lengths(engine, scorers, solver):
    with pytest.raises(DefinitionError, match="'left' has 4, 'right' has 3 rows"):
        side_by_side(engine, scorers, right=RIGHT[:3], solver=solver, models=[saying(default="x")])


def test_lengths_are_compared_before_samples_are_chosen(engine):
    with pytest.raises(DefinitionError, match="differ in length"):
        side_by_side(engine, [EACH], right=RIGHT[:3], overrides=Overrides(num_samples=2))


@pytest.mark.parametrize("n_right", [0, 1, 3, 9])
@pytest.mark.parametrize("trials", [1, 2])
def test_datasets_scored_whole_may_differ_in_length(engine, n_right, trials):
    right = [{"v": n} for n in range(n_right)]
    ran = side_by_side(
        engine, [TOGETHER], right=right, specification={"trials": {"num_trials": trials}}
    )
    assert ran.values == {"of_left": 1.5, "n_left": 4.0, "n_right": float(n_right)}
    assert (ran.spec["n_samples"], ran.spec["n_error"]) == (4, 0)


def test_one_entry_per_row_of_the_first_dataset_is_asked_for(engine):
    scorer = {
        **python_scorer("def compute_scores(samples): return [{'v': 1}] * 3", "v"),
        "type": "python_all_samples",
    }
    ran = side_by_side(engine, [scorer], left=LEFT[:2], right=RIGHT[:3])
    assert "returned 3 entries for 2 samples" in ran.run.scores()["error_message"][0]


@pytest.mark.parametrize(("limit", "n_left", "n_right"), [(2, 2, 2), (3, 3, 3), (6, 4, 6)])
@pytest.mark.parametrize("subsampling", ["head", "random"])
def test_a_number_of_samples_is_taken_of_each_dataset(engine, limit, n_left, n_right, subsampling):
    right = [{"v": n} for n in range(9)]
    overrides = Overrides(num_samples=limit, subsampling=subsampling)
    ran = side_by_side(engine, [TOGETHER], right=right, overrides=overrides)
    assert (ran.values["n_left"], ran.values["n_right"]) == (n_left, n_right)


def test_a_parameter_called_dataset_is_a_name_like_any_other(engine):
    parameters = [{**PARAMETERS[0], "key": "dataset"}]
    scorer = python_scorer("def compute_scores(sample): return {'v': sample['dataset']['v']}", "v")
    whole = {
        **python_scorer(
            "def compute_scores(samples): return [{'w': 1} for _ in samples['dataset']]",
            "w",
            key="whole",
        ),
        "type": "python_all_samples",
    }
    dataset = {"keys": ["<< config.dataset >>"]}
    ran = side_by_side(engine, [scorer, whole], dataset=dataset, config_spec=parameters)
    assert ran.values == {"v": 1.5, "w": 1.0}


def test_rescoring_gives_the_same(engine):
    model = saying({"matches": r"^(\d) (\d+)$", "reply": r"\1+\2"})
    scorer = {"type": "string_equals", "ground_truth": "{{ sample.left.v }}+{{ sample.right.v }}"}
    first = side_by_side(engine, [scorer, EACH], solver=ASK, models=[model])
    assert engine.run(rescore=first).result["metrics"] == first.result["metrics"]


def test_what_scores_whole_datasets_is_run_again_instead_of_rescored(engine):
    first = side_by_side(engine, [TOGETHER], right=RIGHT[:3])
    assert engine.run(rescore=first).result["metrics"] == first.result["metrics"]


@pytest.mark.parametrize("size", [1, 3, 9])
def test_batches_do_not_matter(engine, size):
    whole = side_by_side(engine, [EACH, TOGETHER])
    assert engine.run(batch_size=size).result["metrics"] == whole.result["metrics"]
