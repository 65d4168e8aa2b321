"""Interrupted and killed runs: nothing is paid for twice, and the end is as if nothing had been."""

import contextlib
import random
import shlex
import signal
import subprocess
import time
from functools import partial

import pytest

from tests.e2e.lab import ALONE, TASK, Outcome, model, questions, same_metrics, until

COUNT = 120
CONNECTIONS = 4


@pytest.fixture
def long_run(lab):
    """A run of about two seconds: 120 questions, four at a time, 60 ms each."""
    lab.write(qa_jsonl=questions(COUNT, wrong=20), task_yaml=TASK + RANK)
    lab.server.reset(latency_ms=60, jitter=0.3)
    return lab


RANK = """\
    - type: python_all_samples
      key: together
      compute_scores_snippet: |
        def compute_scores(samples):
            return [{"share": number / len(samples)} for number, _ in enumerate(samples)]
      metrics: [{type: mean, field: share}, {type: std_dev, field: share}]
"""

FLAGS = ("--run-id", "night", "-j", str(CONNECTIONS), "--batch-size", "7")


def begun(lab, *arguments, conductor=ALONE):
    """Start the run, or its continuation, in the background."""
    return lab.evalmill.start(
        "run",
        "--json",
        *(arguments or (lab.folder / "run.yaml", *FLAGS)),
        *conductor,
        cwd=lab.folder,
    )


def uninterrupted(lab, tmp_path):
    """The same run in another store, at no latency."""
    lab.server.renew()
    whole = lab.run(*FLAGS, store=tmp_path / "whole")
    assert whole.exit_code == 0
    return whole


def kill(process: "subprocess.Popen[str]", number: int = signal.SIGKILL) -> tuple[str, str]:
    process.send_signal(number)
    with process:
        return process.communicate(timeout=30)


@pytest.fixture
def in_the_foreground():
    """Let processes hear of their terminal's end, though the tests may run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, id="terminal closed", marks=pytest.mark.slow),
    ],
)
def test_an_interrupted_run_keeps_replies_in_flight_and_says_how_to_go_on(
    long_run, number, tmp_path, in_the_foreground
):
    lab = long_run
    process = begun(lab)
    until(lambda: lab.asked >= 30, "30 requests")
    stdout, stderr = kill(process, number)
    assert process.returncode == 130
    last = stderr.strip().splitlines()[-1]
    assert last.startswith("interrupted: run night, ")
    asked = lab.server.stats()
    assert asked["requests"] < COUNT
    assert asked["client_aborts"] == 0, "replies under way were waited for"
    record = lab.evalmill("ls", "--json").json[0]
    assert (record["status"], record["exit_code"]) == ("interrupted", 130)
    assert '"status":"interrupted"' in stdout

    command = shlex.split(last.partition("resume with: ")[2])
    assert command[0] == "evalmill"
    resumed = Outcome(lab.evalmill(*command[1:], "--json", cwd=tmp_path), lab.evalmill.store)
    assert resumed.exit_code == 0, resumed.stderr
    assert resumed.run_id == "night"
    stats = lab.server.stats()
    assert (stats["requests"], stats["max_arrivals"]) == (COUNT, 1), "only the rest was paid"
    assert same_metrics(resumed.run, uninterrupted(lab, tmp_path).run)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_second_interruption_waits_for_nothing_and_says_how_to_go_on(lab, number):
    lab.server.reset(latency_ms=60_000)
    process = begun(lab, lab.folder / "run.yaml", *FLAGS)
    until(lambda: lab.asked == CONNECTIONS, "the first requests")
    process.send_signal(number)
    first = process.stderr.readline()
    assert first == "interrupted: waiting up to 25 s for replies in flight (again to end now)\n"
    time.sleep(0.3)
    process.send_signal(number)
    again = time.monotonic()
    last = process.stderr.readline()
    assert time.monotonic() - again < 10
    assert last.startswith("interrupted: run night, 0 of 12 samples done; resume with: evalmill")
    with process:
        process.communicate(timeout=30)
    assert process.returncode == 130
    assert lab.evalmill("ls", "--json").json[0]["status"] == "interrupted"


def reached(lab, process, requests):
    return lab.asked >= requests or process.poll() is not None


def killed_and_resumed(lab, moments):
    """Kill the run at these counts of requests, resuming it each time; then let it end."""
    arguments: tuple[str, ...] = ()
    for moment in moments:
        process = begun(lab, *arguments)
        until(partial(reached, lab, process, moment), f"{moment} requests")
        kill(process)
        arguments = ("--resume", "night")
    ended = lab.run(*arguments, file=None)
    assert ended.exit_code == 0, ended.stderr
    return ended


def test_a_killed_run_repeats_no_more_than_was_in_flight(long_run, tmp_path):
    lab = long_run
    kills = [1, 60, COUNT]
    ended = killed_and_resumed(lab, kills)
    stats = lab.server.stats()
    assert stats["distinct_requests"] == COUNT
    assert stats["requests"] - COUNT <= CONNECTIONS * len(kills)
    assert stats["max_in_flight"] <= CONNECTIONS
    assert ended.run.complete
    assert len(ended.run.samples()) == COUNT
    assert same_metrics(ended.run, uninterrupted(lab, tmp_path).run)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_run_killed_at_any_moment_ends_as_if_nothing_had_been(long_run, tmp_path, seed):
    lab = long_run
    process = begun(lab)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=random.Random(seed).uniform(0.5, 5.0))
    kill(process)
    was_open = (lab.evalmill.store / "runs" / "night" / "run.json").exists()
    ended = lab.run("--resume", "night", file=None) if was_open else lab.run(*FLAGS)
    assert ended.exit_code == 0, ended.stderr
    stats = lab.server.stats()
    assert stats["distinct_requests"] == COUNT
    assert stats["requests"] - COUNT <= CONNECTIONS
    assert same_metrics(ended.run, uninterrupted(lab, tmp_path).run)


def test_only_the_same_run_is_resumed(lab):
    first = lab.run("--run-id", "night", "-n", "4")
    assert first.exit_code == 0
    again = lab.run("--resume", "night", file=None)
    assert again.exit_code == 0
    assert again.finished.json["metrics"] == first.finished.json["metrics"]
    taken = lab.evalmill("run", lab.folder / "run.yaml", "--run-id", "night", *ALONE)
    assert taken.exit_code == 2
    assert "--resume night" in taken.stderr
    other_size = lab.evalmill("run", lab.folder / "run.yaml", "--resume", "night", *ALONE)
    assert other_size.exit_code == 2, "other samples are another run"

    lab.write(qa_jsonl=questions(12, note=" of them"))
    refused = lab.evalmill("run", "--resume", "night", *ALONE)
    assert refused.exit_code == 2
    assert "'exam' have changed since run 'night'" in refused.stderr
    lab.write(
        qa_jsonl=questions(12, wrong=3), task_yaml=TASK.replace("question }}", "question }}!")
    )
    refused = lab.evalmill("run", lab.folder / "run.yaml", "--resume", "night", "-n", "4", *ALONE)
    assert refused.exit_code == 2
    assert "'exam' have changed since run 'night'" in refused.stderr
    assert lab.asked == 4


def test_an_interrupted_run_resumes_with_its_settings_and_its_secrets(lab, tmp_path):
    lab.server.reset(latency_ms=400)
    keyed = model(lab.server.base_url).replace("model_key", "api_key: $LAB_KEY\n  model_key")
    lab.write(
        model_yaml=keyed,
        secret_env="LAB_KEY=sk-canary-77\n",
    )
    process = begun(
        lab, lab.folder / "run.yaml", "--env", "secret.env", "-j", "1", "-n", "5",
        "--run-id", "night", "--fail-under", "is_correct_mean=1.1",
    )  # fmt: skip
    until(lambda: lab.asked >= 2, "2 requests")
    _, stderr = kill(process, signal.SIGINT)
    command = shlex.split(stderr.strip().splitlines()[-1].partition("resume with: ")[2])
    lab.server.reset(latency_ms=0)
    resumed = lab.evalmill(*command[1:], "--json", cwd=tmp_path)
    assert resumed.exit_code == 1, "the gate is part of the run"
    assert resumed.json["metrics"][0]["n"] == 5


def test_the_only_batch_is_waited_for_when_it_is_interrupted(lab):
    """In Python before 3.13 an interrupted `join` takes its thread for ended."""
    lab.server.reset(latency_ms=700)
    process = begun(lab, lab.folder / "run.yaml", "-j", "12", "--batch-size", "12")
    until(lambda: lab.asked == 12, "12 requests")
    _, stderr = kill(process, signal.SIGINT)
    assert process.returncode == 130
    assert "12 of 12 samples done" in stderr
    assert lab.server.stats()["client_aborts"] == 0
