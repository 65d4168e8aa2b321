import pickle
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter, ValidationError

import tasks_lib.scorers
from tasks_lib.metrics.mean import Mean
from tasks_lib.scorers import Scorer

MEMBERS = get_args(get_args(Scorer)[0])
SHARED = {
    "__init__",
    "answers",
    "base",
    "function_calls",
    "function_outputs",
    "no_answer",
    "returned",
    "reusable",
    "score",
    "templated",
    "text_comparison",
}
SNIPPET = "def compute_scores(sample): return {}"
EXAMPLES = [
    {"type": "string_equals", "ground_truth": "{{ sample.target }}", "purpose": "qa"},
    {"type": "string_equals_mcqa", "ground_truth_choice": "A", "choices": '["A", "B"]'},
    {"type": "bleu", "ground_truth": "{{ sample.target }}", "value": "{{ sample.guess }}"},
    {
        "type": "function_call_coverage",
        "function_calls": ("open", {"name": "search", "arguments": {"query": "x"}}),
        "mode": "in_order",
    },
    {"type": "disallowed_function_calls", "function_calls": "{{ sample.never }}"},
    {"type": "function_call_output_contains", "function_name": "read", "pattern": "^x"},
    {"type": "function_call_output_not_contains", "function_name": "read", "pattern": "^x"},
    {
        "type": "model_as_a_judge_classifier",
        "model_key": "<< config.judge >>",
        "user_prompt": "{{ sample.answer }}",
        "correct_labels": ("yes",),
        "incorrect_labels": ("no",),
    },
    {
        "type": "model_as_a_judge_scorer",
        "model_key": "openai/gpt-4.1-nano",
        "user_prompt": "{{ sample.answer }}",
        "score_max": 5.0,
    },
    {
        "type": "labeler_via_model",
        "model_key": "openai$gpt-4-1-nano",
        "user_prompt": "{{ sample.answer }}",
    },
    {
        "type": "rag_checker",
        "judge_model_key": "<< config.judge >>",
        "target_column": "answer",
        "scores_to_compute": ("recall",),
        "mode": "required_and_optional",
    },
    {"type": "python", "compute_scores_snippet": SNIPPET, "metrics": ()},
    {
        "type": "python_all_samples",
        "compute_scores_snippet": SNIPPET,
        "metrics": ({"type": "mean", "field": "x"},),
    },
]


AVERAGED = {
    "string_equals": ["is_correct"],
    "string_equals_mcqa": ["is_correct"],
    "bleu": ["bleu_score"],
    "function_call_coverage": ["all_required_calls_made", "required_calls_coverage"],
    "disallowed_function_calls": ["no_disallowed_calls_made"],
    "function_call_output_contains": ["is_correct"],
    "function_call_output_not_contains": ["is_correct"],
    "model_as_a_judge_classifier": ["is_correct"],
    "model_as_a_judge_scorer": ["score"],
    "labeler_via_model": [],
    "rag_checker": ["recall", "required_recall"],
    "python": [],
    "python_all_samples": ["x"],
}
"""The scores of each example whose means are computed."""
SHARES = {"bleu_score", "required_calls_coverage", "score", "recall", "required_recall"}
"""Those that lie between 0 and 1 by definition; booleans need no word."""


def test_every_file_of_the_folder_is_in_the_union():
    folder = Path(tasks_lib.scorers.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - SHARED
    assert {member.model_fields["type"].default for member in MEMBERS} == files
    assert all(member.__doc__ for member in MEMBERS)


@pytest.mark.parametrize("written", EXAMPLES, ids=lambda written: written["type"])
def test_a_member_survives_dumping_hashing_and_pickling(written):
    adapter = TypeAdapter[Scorer](Scorer)
    scorer = adapter.validate_python(written)
    assert scorer.model_dump(exclude_unset=True) == written
    assert adapter.validate_python(scorer.model_dump()) == scorer
    assert hash(scorer) == hash(pickle.loads(pickle.dumps(scorer)))


@pytest.mark.parametrize("written", EXAMPLES, ids=lambda written: written["type"])
def test_its_scores_have_means_and_limits_unless_said_otherwise(written):
    scorer = TypeAdapter[Scorer](Scorer).validate_python(written)
    averaged = AVERAGED[written["type"]]
    assert scorer.keyed_metrics() == {f"mean_{field}": Mean(field=field) for field in averaged}
    assert scorer.shares() == SHARES & set(averaged)


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ({"type": "string_equal", "ground_truth": "x"}, "'string_equal'"),
        ({"type": "string_equals"}, "ground_truth"),
        ({"type": "string_equals", "ground_truth": "x", "truth": "y"}, "Extra inputs"),
        ({"type": "string_equals", "ground_truth": "x", "purpose": "fun"}, "purpose"),
        ({"type": "python", "compute_scores_snippet": "def f(): 1", "metrics": []}, "snippet"),
        (
            {
                "type": "string_equals",
                "ground_truth": "x",
                "metrics": [{"type": "mean", "field": "a", "key": "k"}] * 2,
            },
            "'k' is used twice",
        ),
    ],
    ids=["type", "missing field", "unknown key", "purpose", "snippet", "metric keys"],
)
def test_a_wrong_definition_is_refused(written, complaint):
    with pytest.raises(ValidationError, match=complaint):
        TypeAdapter[Scorer](Scorer).validate_python(written)
