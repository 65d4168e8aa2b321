"""What is shown in a real terminal, and what authors' code may print."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

from tests.command_line import REPOSITORY, CommandLine
from tests.e2e.lab import ALONE

RUN_FILE = REPOSITORY / "deployments" / "catalog" / "exact_match_qa.yaml"


def in_terminal(command: list[str], env: dict[str, str], folder: Path) -> tuple[int, str]:
    """Run a command whose stderr is a terminal; return its exit code and what that showed."""
    leader, follower = pty.openpty()
    with subprocess.Popen(
        command, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=follower
    ) as process:
        os.close(follower)
        shown = b""
        while True:
            try:
                read = os.read(leader, 4096)
            except OSError:  # the terminal's other end is closed
                break
            if not read:
                break
            shown += read
        os.close(leader)
        return process.wait(timeout=60), shown.decode(errors="replace")


def test_a_terminal_shows_progress(evalmill: CommandLine) -> None:
    env = {**os.environ, "EVALMILL_STORE": str(evalmill.store), "TERM": "xterm"}
    command = [sys.executable, "-m", "flows.cli", "run", str(RUN_FILE), "--no-prefect"]
    code, shown = in_terminal(command, env, REPOSITORY)
    assert code == 0, shown
    assert "samples" in shown
    assert "complete: run" in shown


def test_what_snippets_print_stays_off_stdout(evalmill: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "run.yaml").write_text(
        """
datasets: [{key: d, display_name: D, source: {file_path: rows.jsonl}}]
tasks:
  - key: t
    display_name: T
    description: Prints.
    definition:
      dataset: {key: d}
      scorers:
        - type: python
          compute_scores_snippet: |
            def compute_scores(sample):
                print("hello")
                return {"a": 1}
          metrics: [{type: mean, field: a}]
evaluation:
  key: e
  display_name: E
  task_specifications: [{task_key: t}]
"""
    )
    ran = evalmill("run", tmp_path / "run.yaml", "--json", *ALONE)
    assert ran.exit_code == 0, ran.stderr
    assert json.loads(ran.stdout)["status"] == "complete"
    assert "hello" in ran.stderr
