"""What is shown in a real terminal, and what authors' code may print."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line import REPOSITORY, CommandLine
from tests.e2e.lab import ALONE, questions

FULL = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
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


@pytest.mark.parametrize(
    "closed", ["1>&-", "2>&-", "1>&- 2>&-", pytest.param("2>/dev/full", marks=FULL), "| true"]
)
@pytest.mark.parametrize(("wrong", "code"), [(0, 0), (3, 1)])
def test_how_a_run_ends_does_not_depend_on_who_reads_it(lab, closed, wrong, code):
    lab.write(qa_jsonl=questions(4, wrong=wrong))
    words = ["run", "run.yaml", *ALONE, "--run-id", "r", "--fail-under", "is_correct_mean=0.9"]
    script = f'"$@" {closed}; exit ${{PIPESTATUS[0]}}'
    command = ["bash", "-c", script, "bash", sys.executable, "-m", "flows.cli", *words]
    env = {**os.environ, "EVALMILL_STORE": str(lab.evalmill.store), "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(command, env=env, cwd=lab.folder, check=False)
    assert ended.returncode == code
    record = json.loads((lab.evalmill.store / "runs" / "r" / "run.json").read_text())
    assert (record["status"], record["exit_code"]) == ("complete", code)


@FULL
def test_a_table_that_could_not_be_written_is_no_success(lab):
    command = [sys.executable, "-m", "flows.cli", "check", "run.yaml", "--json"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            command, cwd=lab.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
    assert ended.returncode == 3
    assert "No space left on device" in ended.stderr


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
