"""Generated samples, and the run files that put them to a model."""

import json
from pathlib import Path
from typing import Final

MODEL: Final = "fake-model"


def question(number: int) -> str:
    """The prompt of a sample, short as a typical benchmark's; the fake server knows the answer."""
    return f"Question {number}: how much is {number} plus {number % 97}? ANSWER={answer(number)}"


def answer(number: int) -> str:
    """The right answer of a sample."""
    return str(number + number % 97)


def write_run_file(folder: Path, samples: int, base_url: str | None) -> Path:
    """Write a dataset and a run file that asks each sample once and scores the answer.

    Args:
        folder: where to write; the files of an earlier call are replaced.
        samples: rows of the dataset.
        base_url: the model server's; None for a model scripted in the file itself.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "questions.jsonl").open("w", encoding="utf-8") as file:
        for number in range(samples):
            row = {"question": question(number), "answer": answer(number)}
            file.write(json.dumps(row) + "\n")
    run_file = folder / "run.yaml"
    run_file.write_text(json.dumps(_run_file(base_url), indent=1), encoding="utf-8")
    return run_file


def _run_file(base_url: str | None) -> dict[str, object]:
    return {
        "models": [{"key": "model", "display_name": "Model", "config": _connection(base_url)}],
        "datasets": [
            {
                "key": "questions",
                "display_name": "Questions",
                "source": {"type": "local", "file_path": "questions.jsonl"},
            }
        ],
        "tasks": [
            {
                "key": "sums",
                "display_name": "Sums",
                "description": "Whether sums are right.",
                "definition": {
                    "type": "benchmark_task",
                    "dataset": {"key": "questions"},
                    "solver": {
                        "type": "single_turn_solver",
                        "input_builder": {
                            "type": "chat_completion",
                            "input_messages": [
                                {"role": "user", "content": "{{ sample.question }}"}
                            ],
                        },
                    },
                    "scorers": [
                        {
                            "type": "string_equals",
                            "ground_truth": "{{ sample.answer }}",
                            "metrics": [{"type": "mean", "field": "is_correct"}],
                        }
                    ],
                },
            }
        ],
        "evaluation": {
            "key": "benchmark",
            "display_name": "Benchmark",
            "task_specifications": [{"task_key": "sums", "model_key": "model"}],
        },
    }


def _connection(base_url: str | None) -> dict[str, object]:
    if base_url is None:
        rule = {"matches": "ANSWER=(.*)", "reply": r"\1"}
        return {"connection_type": "mock", "rules": [rule]}
    return {
        "connection_type": "custom_connection",
        "url": f"{base_url}/chat/completions",
        "adapter": {"key": "latticeflow$openai_chat_completion"},
        "model_key": MODEL,
        "api_key": "$BENCHMARK_API_KEY",
    }
