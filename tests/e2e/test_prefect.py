"""Prefect conducts, and whatever happens to it, the run ends complete and equal."""

import os
import shlex
import shutil
import signal
import sqlite3
import time
from pathlib import Path
from uuid import UUID

import pytest
from prefect.client.orchestration import get_client

from flows.client import connected
from flows.server import ServerHome, ensure_server, stop_server
from tests.e2e.lab import ALONE, TASK, Outcome, jsonl, questions, same_metrics, until
from tests.e2e.test_resume import RANK, kill
from tests.e2e.test_same_results import tables

UNDER_PREFECT = ("--no-progress",)


@pytest.mark.prefect
def test_with_and_without_prefect_the_tables_are_equal(lab, prefect_server, tmp_path):
    lab.write(qa_jsonl=questions(30, wrong=7), task_yaml=TASK + RANK)
    lab.server.reset(latency_ms=20, jitter=1.0)
    alone = lab.run("--batch-size", "7", store=tmp_path / "alone")
    local = lab.run("--batch-size", "4", conductor=UNDER_PREFECT, store=tmp_path / "local")
    named = lab.run(
        conductor=UNDER_PREFECT, store=tmp_path / "named",
        env={"PREFECT_API_URL": prefect_server.url, "EVALMILL_HOME": str(tmp_path / "nothing")},
    )  # fmt: skip
    assert lab.asked == 90
    for ran in (local, named):
        assert ran.exit_code == 0, ran.stderr
        assert ran.finished.stdout.count("\n") == 1, "one document and nothing else"
        assert "warning" not in ran.stderr
        assert f"watch it at {prefect_server.ui_url}/runs/flow-run/" in ran.stderr
        assert same_metrics(alone.run, ran.run)
        assert tables(alone.run) == tables(ran.run)
        with connected(prefect_server.url), get_client(sync_client=True) as client:
            flow_run = client.read_flow_run(UUID(ran.run.record["prefect_flow_run_id"]))
        assert flow_run.name == ran.run_id
        assert flow_run.state is not None
        assert flow_run.state.is_completed()
    assert not (tmp_path / "nothing" / "prefect").exists(), "a server that is named needs no other"


@pytest.mark.prefect
def test_br_086_and_br_088_two_thousand_large_rows_pass_by_the_orchestrator(lab, prefect_server):
    """No sample is lost or doubled, and no prompt or reply ever reaches Prefect."""
    rows = (
        {"question": f"{'canary-prompt ' * 110}{n} ANSWER=canary-reply-{n}", "target": "x"}
        for n in range(2000)
    )
    lab.write(qa_jsonl=jsonl(rows))
    assert (lab.folder / "qa.jsonl").stat().st_size > 3_000_000
    lab.server.reset(latency_ms=5)
    ran = lab.run("-j", "32", conductor=UNDER_PREFECT)
    assert ran.exit_code == 0, ran.stderr
    assert len(ran.stderr.splitlines()) < 10
    samples = ran.run.samples()
    assert list(samples["sample_index"]) == list(range(2000))
    assert lab.server.stats()["max_arrivals"] == 1
    home = Path(os.environ["EVALMILL_HOME"])
    database = sqlite3.connect(f"file:{home / 'prefect' / 'prefect.db'}?mode=ro", uri=True)
    try:
        dump = "\n".join(database.iterdump())
    finally:
        database.close()
    assert ran.run_id in dump
    assert "canary-" not in dump


@pytest.fixture
def own_home(prefect_server, tmp_path):
    """A home with a server of this test alone, made from the shared one's empty database."""
    home = ServerHome(tmp_path / "home")
    home.prefect_home.mkdir(parents=True)
    template = f"template-{prefect_server.prefect}.db"
    shutil.copyfile(ServerHome.default().prefect_home / template, home.prefect_home / template)
    yield home
    stop_server(home)


@pytest.mark.prefect
def test_a_server_killed_in_the_middle_costs_a_warning_and_seconds(lab, own_home, tmp_path):
    server = ensure_server(180, own_home)
    lab.write(qa_jsonl=questions(150, wrong=7))
    lab.server.reset(latency_ms=200)
    process = lab.evalmill.start(
        "run", lab.folder / "run.yaml", "--json", *UNDER_PREFECT, "--batch-size", "5", "-j", "5",
        env={"EVALMILL_HOME": str(own_home.folder)},
    )  # fmt: skip
    with process:
        assert process.stderr is not None
        notice = process.stderr.readline()
        assert "watch it at" in notice
        until(lambda: lab.asked >= 60, "60 requests")
        os.kill(server.pid, signal.SIGKILL)
        until(lambda: lab.asked >= 150, "the last request")
        asked = time.monotonic()
        stdout, stderr = process.communicate(timeout=60)
    assert time.monotonic() - asked < 20, "exit is not held up"
    assert process.returncode == 0, stderr
    (warning,) = [line for line in stderr.splitlines() if line.startswith("warning: ")]
    assert "Prefect" in warning
    assert "Traceback" not in stderr
    assert stderr.splitlines()[-1].startswith("complete: run ")
    assert lab.server.stats()["max_arrivals"] == 1
    lab.server.reset(latency_ms=0)
    whole = lab.run(store=tmp_path / "whole")
    assert same_metrics(
        whole.run, Outcome(lab.evalmill("show", "last", "--json"), lab.evalmill.store).run
    )
    assert '"status":"complete"' in stdout


@pytest.mark.parametrize("trouble", ["no home", "dead address"])
def test_without_any_server_the_run_ends_complete_with_a_warning(lab, trouble, tmp_path):
    (tmp_path / "file").touch()
    env = {
        "no home": {"EVALMILL_HOME": str(tmp_path / "file" / "home")},
        "dead address": {"PREFECT_API_URL": "http://127.0.0.1:9/api"},
    }[trouble]
    began = time.monotonic()
    ran = lab.run(conductor=UNDER_PREFECT, env=env)
    assert time.monotonic() - began < 30
    assert ran.exit_code == 0, ran.stderr
    (warning,) = ran.finished.json["warnings"]
    assert warning.startswith("not recorded in Prefect: ")
    assert f"warning: {warning}" in ran.stderr
    assert ran.run.record["warnings"] == [warning]
    assert ran.run.complete
    assert ran.value == 0.75


@pytest.mark.prefect
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="Ctrl-C"),
        pytest.param(signal.SIGKILL, id="kill -9", marks=pytest.mark.slow),
    ],
)
def test_a_run_stopped_under_prefect_resumes_under_prefect(lab, prefect_server, number, tmp_path):
    count, connections = 80, 4
    lab.write(qa_jsonl=questions(count, wrong=7), task_yaml=TASK + RANK)
    lab.server.reset(latency_ms=100)
    flags = ("--run-id", "night", "-j", str(connections), "--batch-size", "3", "--json")
    process = lab.evalmill.start("run", lab.folder / "run.yaml", *flags)
    until(lambda: lab.asked >= 50, "50 requests")
    _, stderr = kill(process, number)
    lab.server.reset(latency_ms=0)
    paid = 50
    resume = ["evalmill", "run", "--resume", "night"]
    if number == signal.SIGINT:
        assert process.returncode == 130
        resume = shlex.split(stderr.strip().splitlines()[-1].partition("resume with: ")[2])
    resumed = Outcome(lab.evalmill(*resume[1:], "--json"), lab.evalmill.store)
    assert resumed.exit_code == 0, resumed.stderr
    assert lab.server.stats()["max_arrivals"] == 1
    repeated_at_most = 0 if number == signal.SIGINT else connections
    assert lab.asked <= count - paid + repeated_at_most
    whole = lab.run(*flags, conductor=ALONE, store=tmp_path / "whole")
    assert same_metrics(resumed.run, whole.run)
