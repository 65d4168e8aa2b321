"""Everything that is wrong with files, in plain words."""

from pathlib import Path

import pytest

from tests.documented import GENERIC_INPUT

WHAT_IS_WRONG = """
task.yaml:1: key: 'two words' may only hold letters, digits, '_', '-'
task.yaml:1: key 'description' is missing; add it
task.yaml:2: display_name: the text is empty
task.yaml:3: descripton: unknown key 'descripton'; did you mean 'description'?
task.yaml:4: tags.0: 5 is not text; put it in quotes
task.yaml:4: tags.1: a mapping is not text
task.yaml:6: config_spec.0.default_value: 7 is above the largest value allowed, 3
task.yaml:7: config_spec.1.type: unknown type 'itn'; did you mean 'int'?
task.yaml:8: config_spec.2: key 'type' is missing; add it, write one of 'float', 'int', \
'boolean', 'string', 'model', 'dataset', 'dataset_column', 'task_result', 'list', 'dict', \
'categorical'
task.yaml:10: definition.trials.num_trials: 1 is not at least 2
task.yaml:11: definition.dataset: write either 'key' or 'keys'
task.yaml:14: definition.solver.message_format: 'open_response' is not one of \
'open_responses', 'latticeflow'; did you mean 'open_responses'?
task.yaml:18: definition.solver.input_builder.input_messages.0.role: 'usr' is not one of \
'system', 'user', 'assistant'; did you mean 'user'?
task.yaml:19: definition.solver.input_builder.input_messages.0.content: template line 1: \
unexpected end of template, expected 'end of print statement'.
task.yaml:21: definition.scorers.0.type: unknown type 'python_all_sample'; \
did you mean 'python_all_samples'?
task.yaml:22: definition.scorers.1: key 'ground_truth_choice' is missing; add it
task.yaml:22: definition.scorers.1: key 'choices' is missing; add it
task.yaml:24: definition.scorers.2.compute_scores_snippet: snippet defines score; \
define 'compute_scores' at its top level (text of scorer.py)
task.yaml:26: definition.scorers.2.metrics.0.nam: unknown key 'nam'; did you mean 'name'?
task.yaml:28: definition.scorers.3.compute_scores_snippet: snippet is not Python: \
task.yaml:30: '(' was never closed
scorers/equal.yaml:1: key 'ground_truth' is missing; add it
scorers/equal.yaml:2: ground_trut: unknown key 'ground_trut'; did you mean 'ground_truth'?
"""


def test_everything_wrong_is_reported_at_once_in_the_order_of_the_files(wrong):
    text = """
        key: "two words"
        display_name: ""
        descripton: d
        tags: [5, a: b]
        config_spec:
          - {type: int, key: n, display_name: N, max: 3, default_value: 7}
          - {type: itn, key: n, display_name: N}
          - {key: m, display_name: N}
        definition:
          trials: {num_trials: 1}
          dataset: {key: a, keys: [b]}
          solver:
            type: single_turn_solver
            message_format: open_response
            input_builder:
              type: chat_completion
              input_messages:
                - role: usr
                  content: "{{ sample.x "
          scorers:
            - type: python_all_sample
            - type: string_equals_mcqa
            - type: python
              compute_scores_snippet: !include scorer.py
              metrics:
                - {type: mean, field: a, nam: b}
            - type: python
              compute_scores_snippet: |
                def compute_scores(x):
                    return (
              metrics: []
            - $ref: scorers/equal.yaml
        """
    files = {
        "scorer.py": "\n\ndef score(x):\n    return 1\n",
        "scorers/equal.yaml": "type: string_equals\nground_trut: x\n",
    }
    complaints = [line.replace(f"{Path.cwd()}/", "") for line in wrong(text, files)]
    assert complaints == WHAT_IS_WRONG.strip().splitlines()


@pytest.mark.parametrize(
    ("text", "kind", "complaint"),
    [
        pytest.param(
            "evaluation: {key: e, display_name: E, use_cases: 5}",
            "run",
            "1: evaluation.use_cases: 5 is not 'any' or a list",
            id="one of two forms",
        ),
        pytest.param(
            "evaluation: {key: e, display_name: E, use_cases: [a, 5]}",
            "run",
            "1: evaluation.use_cases.1: 5 is not text; put it in quotes",
            id="inside of one of two forms",
        ),
        pytest.param(
            "run_config: {num_samples: 0}",
            "run",
            "1: run_config.num_samples: 0 is not greater than 0",
            id="out of range",
        ),
        pytest.param(
            "run_config: {num_samples: 5.5}",
            "run",
            "1: run_config.num_samples: 5.5 is not a whole number",
            id="half a sample",
        ),
        pytest.param(
            "run_config: {num_samples: ten}",
            "run",
            "1: run_config.num_samples: 'ten' is not a whole number",
            id="a number in words",
        ),
        pytest.param(
            "run_config: {cache_policy: no_cache}",
            "run",
            "1: run_config.cache_policy: 'no_cache' is not one of 'reuse', 'update', 'no-cache'; "
            "did you mean 'no-cache'?",
            id="a choice misspelt",
        ),
        pytest.param(
            "config: [1]", "run", "1: config: a list is not a mapping", id="list for mapping"
        ),
        pytest.param(
            "tasks: {key: t}", "run", "1: tasks: a mapping is not a list", id="mapping for list"
        ),
        pytest.param(
            "tasks: [t]", "run", "1: tasks.0: 't' is not a mapping", id="text for mapping"
        ),
        pytest.param(
            "models: [{$provider: opnai/gpt}]",
            "run",
            "1: models.0.$provider: unknown provider 'opnai'; known are anthropic, fireworks, "
            "gemini, latticeflow, novita, openai, sambanova, together",
            id="unknown provider",
        ),
        pytest.param(
            "models: [{$provider: gpt}]",
            "run",
            "1: models.0.$provider: 'gpt' is no provider model; write '<provider>/<model>'",
            id="no provider",
        ),
        pytest.param(
            "key: m\ndisplay_name: M\nconfig: {connection_type: custom_conection, url: 'http://x'}",
            "model",
            "3: config.connection_type: unknown connection_type 'custom_conection'; "
            "did you mean 'custom_connection'?",
            id="connection misspelt",
        ),
        pytest.param(
            "key: m\ndisplay_name: M\nconfig: {url: 'http://x', adaptr: {key: a}}",
            "model",
            "3: config.adaptr: unknown key 'adaptr'; did you mean 'adapter'?",
            id="unknown key of a connection whose type is left out",
        ),
        pytest.param(
            "key: d\ndisplay_name: D\nsource:\n  type: local\n  file_path: a.csv\n  filters:\n"
            "  - {op: equal, expression: x, value: 1}\n",
            "dataset",
            "7: source.filters.0.op: unknown op 'equal'; did you mean 'equals'?",
            id="filter misspelt",
        ),
        pytest.param(
            "key: d\ndisplay_name: D\nsource:\n  type: local\n  file_path: a.csv\n  filters:\n"
            "  - {op: equals, expression: x, valu: 1, value: 2}\n",
            "dataset",
            "7: source.filters.0.valu: unknown key 'valu'; did you mean 'value'?",
            id="unknown key of a filter",
        ),
        pytest.param("", "run", "1: nothing is not a mapping", id="empty file"),
        pytest.param("- a", "run", "1: a list is not a mapping", id="a list"),
        pytest.param(
            "xyz: 1",
            "run",
            "1: xyz: unknown key 'xyz'; known keys: models, model_adapters, datasets, tasks, "
            "evaluation, config, run_config, secrets",
            id="a key like no other",
        ),
    ],
)
def test_complaints_are_in_plain_words(wrong, text, kind, complaint):
    assert [line.partition("; write a value")[0] for line in wrong(text, None, kind)] == [
        f"task.yaml:{complaint}"
    ]


def test_complaints_stay_short(wrong):
    lines = wrong(
        f"run_config: {{num_samples: {'x' * 10_000}}}\n? {'y' * 10_000}\n: 1", None, "run"
    )
    assert len(lines) == 2
    assert all(len(line) < 500 for line in lines)


def test_complaints_do_not_show_secrets(wrong):
    lines = wrong(
        """
        secrets: {token: 12345678}
        models:
          - key: m
            display_name: M
            config: {url: "http://x", api_key: 87654321, custom_headers: {X-Key: [x-secret-x]}}
        """,
        kind="run",
    )
    assert len(lines) >= 3
    assert not any(secret in "".join(lines) for secret in ("12345678", "87654321", "x-secret-x"))


def test_two_scorers_or_parameters_or_specifications_may_not_share_a_key(wrong):
    (complaint,) = wrong(
        """
        key: t
        display_name: T
        description: d
        definition:
          scorers:
            - {type: string_equals, key: a, ground_truth: x}
            - {type: string_equals, key: a, ground_truth: y}
        """
    )
    assert "'a'" in complaint
    (complaint,) = wrong(
        """
        key: e
        display_name: E
        task_specifications: [{task_key: t}, {task_key: t}]
        """,
        kind="evaluation",
    )
    assert complaint.endswith(
        "two task specifications have the key 't'; give one a 'key' of its own"
    )


def test_a_solver_needs_a_dataset(wrong):
    text = GENERIC_INPUT.replace("dataset:", "dataset: null").replace(
        'key: "qa-single-answers"', ""
    )
    (complaint,) = wrong(text)
    assert "a task with a solver needs a dataset" in complaint
