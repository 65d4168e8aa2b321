"""What the end-to-end tests share."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.command_line import CommandLine
from tests.e2e.lab import RUN, TASK, Lab, dataset, model, questions
from tests.fake_openai import RunningServer


@pytest.fixture
def lab(
    fake_server: RunningServer,
    evalmill: CommandLine,
    write_files: Callable[[Mapping[str, str | bytes]], Path],
) -> Lab:
    """A project whose run file asks the fake server twelve questions, three of them in vain."""
    folder = write_files(
        {
            "pyproject.toml": "",
            "run.yaml": RUN,
            "task.yaml": TASK,
            "model.yaml": model(fake_server.base_url),
            "qa.yaml": dataset(),
            "qa.jsonl": questions(12, wrong=3),
        }
    )
    return Lab(folder, fake_server, evalmill, write_files)
