"""What the endpoint's limits do to whole runs, alone and side by side."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.command_line import REPOSITORY
from tests.e2e.lab import ALONE, Lab, Outcome, model, questions
from tests.fake_openai import RunningServer
from tests.models.wire import chat, serving
from tests.models.wire import http as response

BUSY = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}


def side_by_side(lab: Lab, runs: int, tmp_path: Path, *arguments: str) -> list[Outcome]:
    """Runs of the project at the same time, each in a store of its own."""
    with ThreadPoolExecutor(runs) as pool:
        ends = [
            pool.submit(lab.run, *arguments, store=tmp_path / f"store-{i}") for i in range(runs)
        ]
        return [end.result() for end in ends]


def test_processes_find_a_rate_limit_together_and_lose_no_row(
    lab: Lab, fake_server: RunningServer, tmp_path: Path
):
    fake_server.reset(max_per_second=40, latency_ms=20)
    lab.write(qa_jsonl=questions(200))
    outcomes = side_by_side(lab, 2, tmp_path, "-j", "20")
    assert [outcome.exit_code for outcome in outcomes] == [0, 0]
    assert [outcome.value for outcome in outcomes] == [1.0, 1.0]
    stats = fake_server.stats()
    assert stats["statuses"]["200"] == 400
    assert stats["statuses"]["429"] < 100, "a burst at the start, and some that probe"


def test_processes_find_out_together_how_many_calls_at_a_time(
    lab: Lab, fake_server: RunningServer, tmp_path: Path
):
    fake_server.reset(max_in_flight=8, latency_ms=100)
    lab.write(qa_jsonl=questions(150))
    outcomes = side_by_side(lab, 2, tmp_path, "-j", "20")
    assert [outcome.exit_code for outcome in outcomes] == [0, 0]
    assert [outcome.value for outcome in outcomes] == [1.0, 1.0]
    assert fake_server.stats()["statuses"]["429"] < 120


def test_the_bound_of_a_model_is_that_of_all_runs_of_this_machine(
    lab: Lab, fake_server: RunningServer, tmp_path: Path
):
    fake_server.reset(latency_ms=50)
    lab.write(
        qa_jsonl=questions(60),
        model_yaml=model(fake_server.base_url, more="max_concurrent_requests: 6\n"),
    )
    outcomes = side_by_side(lab, 3, tmp_path)
    assert [outcome.exit_code for outcome in outcomes] == [0, 0, 0], outcomes[0].stderr
    # each of three starts with the whole bound until it sees the others: 18 without sharing
    assert fake_server.stats()["max_in_flight"] == 6


def test_as_many_calls_as_wanted_may_be_in_flight_whatever_files_the_shell_allows(lab: Lab):
    lab.server.reset(latency_ms=500)
    lab.write(qa_jsonl=questions(150))
    words = ["-m", "flows.cli", "run", "run.yaml", *ALONE, "-j", "150", "--run-id", "many"]
    env = {"EVALMILL_STORE": str(lab.evalmill.store), "PYTHONPATH": str(REPOSITORY)}
    ended = subprocess.run(
        ["bash", "-c", 'ulimit -Sn 64; exec "$@"', "bash", sys.executable, *words],
        env={**os.environ, **env}, cwd=lab.folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert lab.server.stats()["max_in_flight"] > 100


def test_a_bound_of_the_run_is_its_own(lab: Lab, fake_server: RunningServer, tmp_path: Path):
    fake_server.reset(latency_ms=300)
    lab.write(qa_jsonl=questions(60))
    side_by_side(lab, 2, tmp_path, "-j", "6")
    assert 6 < fake_server.stats()["max_in_flight"] <= 12


def test_a_rate_limit_is_spread_over_the_minute(lab: Lab, fake_server: RunningServer):
    lab.write(model_yaml=model(fake_server.base_url, more="rate_limit: 300\n"))
    assert lab.run("-j", "12").exit_code == 0
    stats = fake_server.stats()
    took = stats["last_request_at"] - stats["first_request_at"]
    assert took > 10 * 0.2, "the first makes its connection first"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        pytest.param(
            {"x_ratelimit_remaining_requests": "1", "x_ratelimit_limit_requests": "101",
             "x_ratelimit_reset_requests": "10s"}, (0.9, 6.0), id="OpenAI",
        ),
        pytest.param(
            {"x_ratelimit_remaining_requests": "90", "x_ratelimit_limit_requests": "101",
             "x_ratelimit_reset_requests": "1s"}, (0.0, 0.8), id="enough is left",
        ),
    ],
)  # fmt: skip
def test_what_servers_tell_slows_down_before_they_refuse(
    lab: Lab, told: dict[str, str], seconds: tuple[float, float]
):
    said = response(200, {"choices": [{"message": {"role": "assistant", "content": "a"}}]}, **told)
    with serving(said) as wire:
        wire.clock = time.monotonic
        lab.write(model_yaml=model(wire.url))
        lab.run("-j", "1")
    assert len(wire.arrived) == 12
    took = wire.arrived[-1] - wire.arrived[0]
    assert seconds[0] <= took <= seconds[1]


def test_a_rate_limit_for_all_pauses_all(lab: Lab):
    """While the server asks to wait, nobody asks it again."""
    arrivals: list[float] = []

    def answer(request: object) -> bytes:
        arrivals.append(time.monotonic())
        if time.monotonic() - arrivals[0] < 2.0:
            return response(429, BUSY, retry_after="2")
        return chat("a1")

    with serving(answer) as wire:
        lab.write(model_yaml=model(wire.url))
        lab.run("-j", "4")
    first = arrivals[0]
    refused = [moment for moment in arrivals if moment - first < 2.0]
    assert len(refused) <= 8, "four at once, and those that stepped in before it was clear"
    assert len(arrivals) - len(refused) == 12
