"""The catalog: every task runs offline, says what its README promises, and is found by its key."""

import csv
import io
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tasks_lib.definitions.task import TaskHeader
from tasks_lib.loading import load
from tasks_lib.resolve import Overrides, resolve
from tests.catalog.expected import EXPECTED
from tests.catalog.snippets import CATALOG
from tests.command_line import REPOSITORY, CommandLine

RUNS = REPOSITORY / "deployments" / "catalog"
DATASETS = REPOSITORY / "datasets" / "catalog"
TASKS = sorted(path.parent.name for path in CATALOG.glob("*/task.yaml"))
NEW = [name for name in TASKS if name != "capitals"]  # which has a run and tests of its own
MOST_LINES = 40

Written = Callable[[Mapping[str, str | bytes]], Path]


def header(name: str) -> TaskHeader:
    tree = load(CATALOG / name / "task.yaml").tree
    return TaskHeader.model_validate({key: tree[key] for key in tree if key != "definition"})


@pytest.mark.parametrize("name", NEW)
def test_the_offline_run_prints_the_expected_numbers(name: str, evalmill: CommandLine):
    done = evalmill("run", RUNS / f"{name}.yaml", "--json", "--no-prefect")
    assert done.exit_code == 0, done.stderr
    found: dict[str, dict[str, dict[str, float]]] = {}
    for row in done.json["metrics"]:
        assert row["n_error"] == 0
        by_scorer = found.setdefault(row["spec_key"], {})
        by_scorer.setdefault(row["scorer_key"], {})[row["name"]] = row["value"]
    expected = EXPECTED[name]
    assert {spec: list(scorers) for spec, scorers in found.items()} == {
        spec: list(scorers) for spec, scorers in expected.items()
    }
    for spec, scorers in expected.items():
        for scorer, metrics in scorers.items():
            assert found[spec][scorer] == {
                name: value if not isinstance(value, int | float) else pytest.approx(value)
                for name, value in metrics.items()
            }


@pytest.mark.parametrize("name", ["conversation_memory", "multiple_choice", "rag_quality"])
def test_lists_may_stand_in_csv_as_json(name: str, evalmill: CommandLine, write_files: Written):
    lines = (DATASETS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    run = (RUNS / f"{name}.yaml").read_text(encoding="utf-8")
    inline = f"""key: {name}_sample
    display_name: Sample
    source: {{type: local, file_path: rows.csv}}"""
    folder = write_files(
        {
            "rows.csv": as_csv(rows),
            "run.yaml": run.replace(f"$ref: ../../datasets/catalog/{name}.yaml", inline),
        }
    )
    done = evalmill("run", folder / "run.yaml", "--json", "--no-prefect")
    assert done.exit_code == 0, done.stderr
    first = done.json["metrics"][0]
    expected = EXPECTED[name][first["spec_key"]][first["scorer_key"]]
    assert first["value"] == pytest.approx(expected[first["name"]])


def as_csv(rows: list[dict[str, Any]]) -> str:
    """Rows as CSV; of a list of accepted answers, which may not stand there, the first."""
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0])
    writer.writeheader()
    for row in rows:
        answer = row.get("answer")
        cells = {**row, "answer": answer[0]} if isinstance(answer, list) else row
        writer.writerow(
            {
                key: json.dumps(cell) if isinstance(cell, list) else cell
                for key, cell in cells.items()
            }
        )
    return text.getvalue()


def test_every_task_has_a_run_a_dataset_and_an_expected_result():
    assert sorted(EXPECTED) == NEW
    assert sorted(path.stem for path in RUNS.glob("*.yaml")) == NEW
    assert sorted(path.stem for path in DATASETS.glob("*.yaml")) == NEW
    assert all(f"({name}/" in (CATALOG / "README.md").read_text() for name in TASKS)


@pytest.mark.parametrize("name", NEW)
def test_a_sample_dataset_has_ten_to_twenty_rows_and_no_python(name: str):
    files = [path for path in DATASETS.glob(f"{name}.*") if path.suffix != ".yaml"]
    assert [path.suffix for path in files] in ([".csv"], [".jsonl"])
    heading = files[0].suffix == ".csv"
    assert 10 <= len(files[0].read_text(encoding="utf-8").splitlines()) - heading <= 20


@pytest.mark.parametrize("name", NEW)
def test_a_task_explains_itself(name: str):
    task = header(name)
    readme = (CATALOG / name / "README.md").read_text(encoding="utf-8")
    assert task.key == name
    assert task.long_description == readme.strip()
    assert len(readme.splitlines()) <= MOST_LINES
    for parameter in task.config_spec:
        assert parameter.description
        assert f"`{parameter.key}`" in readme
    for part in ("Columns**", "```sh", "**The numbers**", "**Not for**"):
        assert part in readme
    for path in re.findall(r"(?:deployments|tasks_lib)/\S+", readme):
        assert (REPOSITORY / path).is_file(), path


@pytest.mark.parametrize("name", NEW)
def test_a_readme_names_every_metric_of_fixed_name(name: str):
    readme = (CATALOG / name / "README.md").read_text(encoding="utf-8")
    definition = load(CATALOG / name / "task.yaml").tree["definition"]
    metrics = [metric for scorer in definition["scorers"] for metric in scorer["metrics"]]
    for metric in metrics:
        if "name" in metric and not metric["name"].startswith("Misled by"):
            assert f"`{metric['name']}`" in readme


def test_a_task_is_found_by_its_key_from_a_project_that_knows_only_evalmill(
    evalmill: CommandLine, write_files: Written
):
    questions = [{"question": "2 + 2?", "answer": "4"}, {"question": "3 + 3?", "answer": "6"}]
    folder = write_files(
        {
            "rows.jsonl": "".join(json.dumps(row) + "\n" for row in questions),
            "run.yaml": """
                models:
                  - key: four
                    display_name: Four
                    config: {connection_type: mock, default: "4"}
                datasets:
                  - key: sums
                    display_name: Sums
                    source: {type: local, file_path: rows.jsonl}
                evaluation:
                  key: sums
                  display_name: Sums
                  task_specifications:
                    - task_key: exact_match_qa
                      model_key: four
                      task_config: {dataset: sums}
                """,
        }
    )
    done = evalmill("run", folder / "run.yaml", "--json", "--no-prefect")
    assert done.exit_code == 0, done.stderr
    assert {row["name"]: row["value"] for row in done.json["metrics"]}["Correct"] == 0.5


def test_a_task_of_the_project_goes_before_one_of_the_catalog(
    evalmill: CommandLine, write_files: Written
):
    folder = write_files(
        {
            "rows.jsonl": '{"question": "2 + 2?", "answer": "4"}\n',
            "tasks/own.yaml": """
                key: exact_match_qa
                display_name: Our own
                description: Looks at nothing.
                definition:
                  dataset: {key: sums}
                  scorers:
                    - {type: python, key: own, metrics: [{type: mean, field: one}],
                       compute_scores_snippet: "def compute_scores(sample): return {'one': 1}"}
                """,
            "run.yaml": """
                datasets:
                  - key: sums
                    display_name: Sums
                    source: {type: local, file_path: rows.jsonl}
                evaluation:
                  key: sums
                  display_name: Sums
                  task_specifications: [{task_key: exact_match_qa}]
                """,
        }
    )
    done = evalmill("run", folder / "run.yaml", "--json", "--no-prefect")
    assert done.exit_code == 0, done.stderr
    assert [row["scorer_key"] for row in done.json["metrics"]] == ["own"]


@pytest.mark.parametrize("name", NEW)
def test_a_task_file_alone_is_bound_by_flags_as_its_readme_says(name: str):
    data = next(path for path in DATASETS.glob(f"{name}.*") if path.suffix != ".yaml")
    settings = {
        "judge": "openai/judge",
        "user": "openai/user",
        "target_language": "German",
        "labels": "{billing: a, technical: b, delivery: c, other: d}",
        "columns": "question,answer",
        "unique_columns": "question",
    }
    known = {parameter.key for parameter in header(name).config_spec}
    model = None if name == "dataset_quality" else "openai$model"
    overrides = Overrides(
        model=model,
        dataset=str(data),
        settings={key: text for key, text in settings.items() if key in known},
    )
    resolved = resolve(CATALOG / name / "task.yaml", overrides)
    assert list(resolved.specs[0].datasets) == ["dataset"]
    assert resolved.specs[0].model_key == model
