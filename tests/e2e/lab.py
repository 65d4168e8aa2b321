"""A small project of a test's own: a run file, questions, and the fake server as its model."""

import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

from tasks_lib.models.ledger import entries
from tasks_lib.results.load import StoredRun, load_run
from tests.command_line import CommandLine, Finished
from tests.fake_openai import RunningServer

ALONE = ("--no-prefect", "--no-progress")
"""Flags of runs whose conductor doesn't matter: none is the fastest."""

TASK = """\
key: exam
display_name: Exam
description: Asks and compares.
definition:
  dataset: {key: qa}
  solver:
    type: single_turn_solver
    input_builder:
      type: chat_completion
      input_messages:
        - {role: user, content: "{{ sample.question }}"}
  scorers:
    - {type: string_equals, ground_truth: "{{ sample.target }}"}
"""
"""The task of most tests: send the question as it is, compare the answer with the target."""


def model(url: str, key: str = "lab", more: str = "") -> str:
    """A model file that calls the chat API at `url`.

    Args:
        url: the API's base, ending in `/v1`.
        key: of the model; its name at the provider is `<key>-1`.
        more: further YAML lines of the model.
    """
    return dedent(f"""\
        key: {key}
        display_name: The lab's model
        config:
          connection_type: custom_connection
          url: {url}
          model_key: {key}-1
          adapter: {{key: latticeflow$openai_chat_completion}}
        """) + dedent(more)


def mock(replies: Iterable[str | Mapping[str, Any]], more: str = "") -> str:
    """A model file whose model says these replies to samples 0, 1, …: texts, or mock rules."""
    rules = [
        {"sample_id": str(number), **({"reply": reply} if isinstance(reply, str) else reply)}
        for number, reply in enumerate(replies)
    ]
    config = json.dumps({"connection_type": "mock", "rules": rules})
    return f"key: lab\ndisplay_name: Scripted\nconfig: {config}\n" + dedent(more)


RUN = """\
models: [{$ref: model.yaml}]
tasks: [{$ref: task.yaml}]
datasets: [{$ref: qa.yaml}]
evaluation:
  key: nightly
  display_name: Nightly
  task_specifications:
    - {task_key: exam, model_key: lab}
"""


def dataset(file: str = "qa.jsonl", more: str = "") -> str:
    """A dataset file that reads `file` beside it, keyed `qa`."""
    return f"key: qa\ndisplay_name: Questions\nsource: {{type: local, file_path: {file}{more}}}\n"


def jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """Rows as JSON Lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def questions(count: int, wrong: int = 0, note: str = "") -> str:
    """Questions the fake server answers, of which the last `wrong` expect something else."""
    return jsonl(
        {
            "question": f"Number {number}{note}? ANSWER=a{number}",
            "target": f"a{number}" if number < count - wrong else "other",
        }
        for number in range(count)
    )


@dataclass(frozen=True)
class Outcome:
    """What a run with `--json` came to, and its folder."""

    finished: Finished
    store: Path

    @property
    def exit_code(self) -> int:
        return self.finished.exit_code

    @property
    def stderr(self) -> str:
        return self.finished.stderr

    @property
    def last_line(self) -> str:
        """The last line of stderr, which names result and run."""
        return self.stderr.strip().splitlines()[-1]

    @property
    def run_id(self) -> str:
        run_id: str = self.finished.json["run_id"]
        return run_id

    @property
    def run(self) -> StoredRun:
        return load_run(self.run_id, self.store)

    @property
    def metrics(self) -> dict[str, dict[str, Any]]:
        """Rows of the metrics table by the name of the value."""
        return {row["name"]: row for row in self.finished.json["metrics"]}

    @property
    def value(self) -> float | None:
        """The value of the only metric."""
        ((_, row),) = self.metrics.items()
        value: float | None = row["value"]
        return value

    def requests(self) -> list[Any]:
        """Bodies sent to the model, in order of their samples' ids."""
        return [json.loads(entry.request) for entry in entries(self.store, self.run_id)]

    def prompts(self) -> list[str]:
        """Texts of the last messages sent, in order of the samples' ids."""
        return [request["messages"][-1]["content"] for request in self.requests()]


@dataclass(frozen=True)
class Lab:
    """The project's folder, the server behind its model, and the command line."""

    folder: Path
    server: RunningServer
    evalmill: CommandLine
    write_files: Callable[[Mapping[str, str | bytes]], Path]

    def write(self, **files: str | bytes) -> None:
        """Write files of the project; `task_yaml="…"` is `task.yaml`."""
        self.write_files({name.replace("_", "."): text for name, text in files.items()})

    def run(
        self,
        *arguments: str | Path,
        file: str | None = "run.yaml",
        conductor: tuple[str, ...] = ALONE,
        env: Mapping[str, str] | None = None,
        store: Path | None = None,
    ) -> Outcome:
        """Run the project's run file, or another, to its end."""
        named = [self.folder / file] if file is not None else []
        where = store or self.evalmill.store
        finished = self.evalmill(
            "run", *named, "--json", "-o", where, *conductor, *arguments,
            cwd=self.folder, env=env,
        )  # fmt: skip
        return Outcome(finished, where)

    @property
    def asked(self) -> int:
        """Requests that reached the server since the last reset."""
        requests: int = self.server.stats()["requests"]
        return requests


def until(condition: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    """Wait until a condition holds.

    Raises:
        AssertionError: it doesn't within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s for {what}"
        time.sleep(0.005)


def same_metrics(left: StoredRun, right: StoredRun) -> bool:
    """Whether two runs have equal metrics tables, every column and schema included."""
    import pyarrow.parquet as pq

    one, other = pq.read_table(left.folder.metrics), pq.read_table(right.folder.metrics)
    return bool(one.equals(other, check_metadata=True))
