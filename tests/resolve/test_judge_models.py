"""Models that scorers name are the evaluation's models too."""

import pytest

from tasks_lib.errors import DefinitionErrors
from tasks_lib.resolve import Overrides, check_dataset_columns, fingerprint, resolve
from tests.resolve.project import DATASET, MODEL

TASK = """\
key: graded
display_name: Graded
description: Asks a judge.
config_spec:
  - {type: model, key: judge, display_name: Judge, default_value: openai$gpt-4-1-nano}
definition:
  dataset: {key: qa}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages: [{role: user, content: "{{ sample.question }}"}]
  scorers:
    - {type: model_as_a_judge_scorer, model_key: << config.judge >>, user_prompt: Rate.}
    - {type: rag_checker, judge_model_key: lab}
"""

JUDGE = "openai$gpt-4-1-nano"


@pytest.fixture
def graded(write_files):
    def resolved(model="openai/gpt-5", **settings):
        folder = write_files(
            {
                "pyproject.toml": "",
                "graded.yaml": TASK,
                "qa.yaml": DATASET,
                "qa.jsonl": '{"question": "?", "target": "x"}\n',
                "lab.yaml": MODEL,
            }
        )
        return resolve(folder / "graded.yaml", Overrides(model=model, settings=settings))

    return resolved


def test_judges_are_models_of_the_evaluation(graded):
    evaluation = graded()
    assert evaluation.models.keys() == {"openai$gpt-5", JUDGE, "lab"}
    scorer, checker = evaluation.specs[0].task.definition.scorers
    assert (scorer.asked_model, checker.asked_model) == (JUDGE, "lab")
    assert evaluation.models["lab"].config.model_key == "lab-1"


def test_another_judge_makes_another_evaluation(graded):
    one, other = graded(), graded(judge="lab")
    assert other.models.keys() == {"openai$gpt-5", "lab"}
    assert fingerprint(one.specs[0], one.models) != fingerprint(other.specs[0], other.models)


def test_a_key_that_may_have_lost_a_dot_is_told(graded):
    (warning,) = graded().warnings
    assert warning == (
        f"model '{JUDGE}' is not declared, so openai is asked for 'gpt-4-1-nano'; if that is not "
        "its name, declare it: models: [{$provider: openai/gpt-4.1-nano}]"
    )
    assert graded(judge="openai$gpt-5-mini").warnings == ()
    assert graded(judge="openai$gpt-4o-2024-08-06").warnings == ()


def test_a_name_in_full_says_what_a_key_means(graded):
    evaluation = graded(model="openai/gpt-4.1-nano")
    assert evaluation.models[JUDGE].config.model_key == "gpt-4.1-nano"
    assert evaluation.warnings == ()


def test_a_judge_that_nobody_knows_is_told_with_its_place(graded):
    with pytest.raises(DefinitionErrors, match="there is no model 'nobody'"):
        graded(judge="nobody")


def test_br_062_a_column_that_a_scorer_needs_is_missed_before_any_call(graded):
    (spec,) = graded().specs
    check_dataset_columns(spec, ["question", "target", "query"])
    with pytest.raises(DefinitionErrors) as caught:
        check_dataset_columns(spec, ["question", "target"])
    assert str(caught.value) == (
        "task 'graded': scorer 'rag_checker', query_column: the dataset has no column 'query'; "
        "its columns: question, target"
    )
