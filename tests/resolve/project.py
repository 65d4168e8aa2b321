"""The small project that the tests of resolve share."""

from textwrap import dedent

RUN = """\
models:
  - $provider: openai/gpt-4.1-nano
evaluation:
  key: nightly
  display_name: Nightly
  config_spec:
    - {type: model, key: model, display_name: Model}
    - {type: int, key: amount, display_name: Amount, min: 1}
    - {type: string, key: style, display_name: Style, default_value: short}
  task_specifications:
    - task_key: trivia
      model_key: << config.model >>
      num_samples: << config.amount >>
      task_config:
        style: << config.style >>
    - key: unique-targets
      task_key: uniqueness
      task_config:
        field: target
        dataset_key: qa
config:
  model: lab
  amount: 5
run_config:
  num_samples: 10
  subsampling: random
  cache_policy: update
"""

TASK = """\
key: trivia
display_name: Trivia
description: Asks trivia.
config_spec:
  - type: categorical
    key: style
    display_name: Style
    allowed_values: [short, long]
    values_mapping: {short: briefly}
    default_value: short
  - {type: int, key: shots, display_name: Shots, default_value: 2, max: 5}
definition:
  dataset:
    key: qa
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages:
        - role: user
          content: "Answer << config.style >>, << config.shots >> shots. {{ sample.question }}"
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.target }}"
    - type: string_equals
      ground_truth: "{{ sample.target }}."
"""

UNIQUENESS = """\
display_name: Uniqueness Task
key: uniqueness
description: Rate of distinct values of a field.
config_spec:
  - type: string
    key: field
    display_name: Field
definition:
  scorers:
    - type: python_all_samples
      compute_scores_snippet: !include snippets/unique.py
      metrics:
        - {type: mean, field: is_unique, name: Uniqueness Rate}
"""

DATASET = """\
key: qa
display_name: Questions
source:
  type: local
  file_path: qa.jsonl
"""

MODEL = """\
key: lab
display_name: Lab model
config:
  connection_type: custom_connection
  url: http://127.0.0.1:9/v1
  model_key: lab-1
  api_key: $LAB_API_KEY
  adapter: {key: latticeflow$openai_chat_completion}
"""

_FILES = {
    "unique.py": """\
        from collections import Counter


        def compute_scores(samples):
            field_name = "<< config.field >>"
            counts = Counter(sample[field_name] for sample in samples)
            return [{"is_unique": counts[sample[field_name]] == 1} for sample in samples]
        """,
    "evaluation.yaml": """\
        key: old
        display_name: Old generation
        mode: debug
        subsampling: random
        cache_policy: no-cache
        config_spec:
          - {type: string, key: column, display_name: Column, default_value: target}
        task_specifications:
          - task_key: uniqueness
            dataset_key: qa
            task_config: {field: << config.column >>}
        """,
    "pairs.yaml": """\
        key: pairs
        display_name: Pairs
        description: Compares the rows of two datasets.
        config_spec:
          - {type: dataset, key: left, display_name: Left}
        definition:
          dataset:
            keys: ["<< config.left >>", qa]
          scorers:
            - type: python
              compute_scores_snippet: !include pairs.py
              metrics: []
        """,
    "pairs.py": """\
        def compute_scores(sample):
            return {"same": sample["<< config.left >>"] == sample["qa"]}
        """,
}


def at(name: str) -> str:
    """Return the text of a further file."""
    return dedent(_FILES[name])


FILES = {
    "pyproject.toml": "",
    "run.yaml": RUN,
    "tasks/trivia.yaml": TASK,
    "tasks/uniqueness.yaml": UNIQUENESS,
    "tasks/snippets/unique.py": at("unique.py"),
    "datasets/qa.yaml": DATASET,
    "datasets/qa.jsonl": '{"question": "2 + 2?", "target": "4"}\n',
    "models/lab.yaml": MODEL,
}
"""The project: a run file and what it names."""
