"""Everything that may be run: run, evaluation and task files, both generations, all members."""

import json

import pytest

from tests.documented import GENERIC_INPUT, UNIQUENESS, UNIQUENESS_SCORER
from tests.e2e.lab import TASK, jsonl

SYSTEM = "You are a helpful assistant. Answer with no punctuation."

CITIES = jsonl(
    [
        {"question": "Capital of Japan? ANSWER=Tokyo", "target": "Tokyo"},
        {"question": "Largest city of Japan? ANSWER=Tokyo", "target": "Tokyo"},
        {"question": "Capital of Peru? ANSWER=Lima.", "target": "Lima"},
    ]
)

PROVIDER = {"OPENAI_API_KEY": "sk-of-the-tests"}


def test_documented_tasks_run_unchanged_from_a_data_file_and_a_provider_model(lab):
    lab.write(
        generic_yaml=GENERIC_INPUT,
        uniqueness_yaml=UNIQUENESS,
        cities_jsonl=CITIES,
    )
    lab.write_files({"uniqueness_scorer.py": UNIQUENESS_SCORER})
    env = {**PROVIDER, "OPENAI_BASE_URL": lab.server.base_url}
    asked = lab.run(
        "--dataset", "cities.jsonl", "-m", "openai/gpt-4.1-nano", file="generic.yaml", env=env
    )
    assert asked.exit_code == 0
    assert asked.value == pytest.approx(2 / 3)
    first = asked.requests()[0]
    assert first["model"] == "gpt-4.1-nano"
    assert first["messages"] == [
        {"role": "system", "content": SYSTEM},
        {"role": "user", "content": "Capital of Japan? ANSWER=Tokyo"},
    ]
    assert asked.run.record["specs"][0]["model_key"] == "openai$gpt-4-1-nano"
    assert list(asked.run.samples()["output_text"]) == ["Tokyo", "Tokyo", "Lima."]

    unique = lab.run("--dataset", "cities.jsonl", "--set", "field=target", file="uniqueness.yaml")
    assert unique.exit_code == 0
    assert unique.metrics["Uniqueness Rate"]["value"] == pytest.approx(1 / 3)
    assert list(unique.run.scores()["is_unique"]) == [False, False, True]
    assert lab.asked == 3, "a task about a dataset calls no model"


OLDER = """\
key: older
display_name: Older
mode: full
num_samples: 2
cache_policy: no-cache
task_specifications:
  - task_key: singleturn-generic-input
    model_key: lab
  - task_key: uniqueness-task
    dataset_key: qa-single-answers
    task_config: {field: target}
"""

NEWER = """\
tasks: [{$ref: generic.yaml}, {$ref: uniqueness.yaml}]
models: [{$ref: model.yaml}]
datasets: [{$ref: cities.yaml}]
evaluation:
  key: newer
  display_name: Newer
  description: With placeholders wherever a key may stand.
  config_spec:
    - {type: model, key: tested model, display_name: Model, usage: model_under_test}
    - {type: dataset, key: data, display_name: Data}
  task_specifications:
    - task_key: singleturn-generic-input
      model_key: << config.tested model >>
    - task_key: uniqueness-task
      task_config: {field: target, dataset_key: << config.data >>}
config: {tested model: lab, data: qa-single-answers}
run_config: {num_samples: 2, cache_policy: no-cache}
"""


def test_both_generations_of_the_language_give_the_same_numbers(lab):
    lab.write(
        generic_yaml=GENERIC_INPUT,
        uniqueness_yaml=UNIQUENESS,
        cities_jsonl=CITIES,
        cities_yaml="key: qa-single-answers\ndisplay_name: Cities\n"
        "source: {type: local, file_path: cities.jsonl}\n",
        older_yaml=OLDER,
        newer_yaml=NEWER,
    )
    lab.write_files({"uniqueness_scorer.py": UNIQUENESS_SCORER})
    older, newer = lab.run(file="older.yaml"), lab.run(file="newer.yaml")
    assert (older.exit_code, newer.exit_code) == (0, 0)
    assert older.finished.json["metrics"] == newer.finished.json["metrics"]
    assert {name: row["value"] for name, row in newer.metrics.items()} == {
        "is_correct_mean": 1.0,
        "Uniqueness Rate": 0.0,
    }
    assert lab.asked == 4
    old_words = [line for line in newer.stderr.splitlines() if line.startswith("warning: ")]
    assert "'mode'" in older.stderr
    assert len(old_words) == 1
    assert "evaluated_entity_type" in old_words[0]


EVENING = """\
key: evening
display_name: Evening
task_specifications:
  - {key: few, task_key: exam, model_key: lab, num_samples: 4}
  - {key: all, task_key: exam, model_key: lab}
"""


def test_an_evaluation_file_finds_its_parts_in_the_project(lab):
    lab.write(evening_yaml=EVENING)
    ran = lab.run(file="evening.yaml")
    assert ran.exit_code == 0
    rows = {row["spec_key"]: row for row in ran.finished.json["metrics"]}
    assert (rows["few"]["value"], rows["few"]["n"]) == (1.0, 4)
    assert (rows["all"]["value"], rows["all"]["n"]) == (0.75, 12)
    assert ran.finished.json["metrics"][0]["spec_key"] == "few"
    assert lab.asked == 16, "another specification's replies are not one's own"


def _message(role: str, text: str) -> dict[str, object]:
    kind = "output_text" if role == "assistant" else "input_text"
    return {"type": "message", "role": role, "content": [{"type": kind, "text": text}]}


def _called(call_id: str, city: str, output: str) -> list[dict[str, object]]:
    arguments = json.dumps({"city": city, "unit": "celsius"})
    return [
        {
            "type": "function_call",
            "call_id": call_id,
            "name": "get_current_weather",
            "arguments": arguments,
        },
        {"type": "function_call_output", "call_id": call_id, "output": output},
    ]


WEATHER = [
    _message("user", "What is the current temperature in Seoul?"),
    *_called("c1", "Seoul", '{"temperature": 11, "condition": "partly cloudy"}'),
    _message("assistant", "The current temperature in Seoul is 11°C with partly cloudy skies."),
    _message("user", "And what about Berlin?"),
    *_called("c2", "Berlin", '{"temperature": 4, "condition": "overcast"}'),
    _message("assistant", "In Berlin it is currently 4°C and overcast."),
]

TOKYO = [
    _message("system", "You are a helpful assistant. Answer concisely with a single word."),
    _message("user", "What is the capital city of Japan?"),
    _message("assistant", "Tokyo"),
]

TRACES = """\
key: traces
display_name: Traces
description: Scores conversations that were had elsewhere.
definition:
  dataset: {key: qa}
  solver:
    type: "pass_through_solver"
    message_format: "open_responses"
    trace_column: "trace"
  scorers:
    - type: string_equals
      ground_truth: "{{ sample.target }}"
    - type: python
      key: tools
      compute_scores_snippet: !include tools.py
      metrics:
        - {type: mean, field: calls}
        - {type: max, field: calls, name: most}
        - {type: frequency, field: city}
"""

TOOLS = '''\
from typing import Any

from latticeflow.core.dtypes import RawSample, SolverOutput


async def compute_scores(sample: RawSample, solver_output: SolverOutput) -> dict[str, Any]:
    """Count the calls; the last city asked for."""
    calls = solver_output.trace.function_calls
    return {
        "scores": {"calls": len(calls), "city": calls[-1].arguments if calls else "none"},
        "metadata": {"said": solver_output.trace.get_last_assistant_text()},
    }
'''


def test_traces_with_tool_calls_are_passed_through_to_every_scorer(lab):
    rows = [
        {"sample_id": "seoul", "trace": {"items": WEATHER}, "target": "In Berlin it is 4°C."},
        {"sample_id": "japan", "trace": json.dumps({"items": TOKYO}), "target": "Tokyo"},
    ]
    lab.write(traces_yaml=TRACES, tools_py=TOOLS, qa_jsonl=jsonl(rows))
    ran = lab.run(file="traces.yaml")
    assert ran.exit_code == 0
    assert ran.metrics["is_correct_mean"]["value"] == 0.5
    assert ran.metrics["calls_mean"]["value"] == 1.0
    assert ran.metrics["most"]["value"] == 2.0
    assert ran.metrics["city_none"]["value"] == 0.5
    samples = ran.run.samples().set_index("sample_id")
    kept = json.loads(samples.loc["seoul", "trace"])["items"]
    kinds = ["message", "function_call", "function_call_output", "message"]
    assert [item["type"] for item in kept] == kinds * 2
    assert samples.loc["japan", "output_text"] == "Tokyo"
    (metadata,) = ran.run.scores("tools").query("sample_id == 'japan'")["metadata"]
    assert json.loads(metadata) == {"said": "Tokyo"}
    shown = lab.evalmill("show", ran.run_id, "seoul")
    assert "get_current_weather" in shown.stdout
    assert '"temperature": 4' in shown.stdout
    assert lab.asked == 0


TOGETHER = """\
    - type: python
      key: length
      compute_scores_snippet: |
        from latticeflow.core.dtypes import SolverTrace

        def compute_scores(sample, solver_output):
            assert isinstance(solver_output, SolverTrace)
            raw = solver_output.raw_outputs
            return {"chars": len(solver_output.trace.get_last_assistant_text()), "calls": len(raw)}
      metrics:
        - {type: mean, field: chars}
        - {type: std_dev, field: chars}
        - type: python
          key: own
          compute_metrics_snippet: |
            def compute_metrics(scores):
                return {"longest": max(score.values["chars"] for score in scores)}
    - type: python_all_samples
      key: rank
      compute_scores_snippet: |
        def compute_scores(samples):
            order = sorted(sample["target"] for sample in samples)
            return [{"rank": order.index(sample["target"])} for sample in samples]
      metrics: [{type: min, field: rank, name: first}]
"""


def test_snippets_see_replies_and_all_samples_see_each_other(lab):
    lab.write(task_yaml=TASK + TOGETHER)
    ran = lab.run("-n", "11", "--batch-size", "4")
    assert ran.exit_code == 0, ran.stderr
    values = {name: row["value"] for name, row in ran.metrics.items()}
    assert values.pop("chars_std_dev") == pytest.approx(0.30151, abs=1e-5)
    assert values == {
        "is_correct_mean": pytest.approx(9 / 11),
        "chars_mean": pytest.approx(23 / 11),
        "longest": 3.0,
        "first": 0.0,
    }
    assert list(ran.run.scores("rank")["rank"]) == [*range(9), 9, 9]
    assert set(ran.run.scores("length")["calls"]) == {1}
