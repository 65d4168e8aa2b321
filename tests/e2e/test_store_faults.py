"""A store that is full, damaged, shared, moved or read-only: clear words, nothing corrupt."""

import json
import os
import random
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest

from tests.e2e.lab import ALONE, TASK, Lab, Outcome, jsonl, questions, same_metrics, until

FLAGS = ("--run-id", "night", "-j", "4", "--batch-size", "5")


def folder(lab: Lab, run_id: str = "night") -> Path:
    return lab.evalmill.store / "runs" / run_id


def leftovers(store: Path) -> list[Path]:
    """Temporary files and locks of runs."""
    return [path for path in store.rglob(".*") if path.is_file()]


def killed(lab: Lab, requests: int, *arguments: str) -> None:
    """Start a run, or go on with one, and kill it after so many requests."""
    command = arguments or (str(lab.folder / "run.yaml"), *FLAGS)
    process = lab.evalmill.start("run", *command, *ALONE, cwd=lab.folder)
    with process:
        until(lambda: lab.asked >= requests, f"{requests} requests")
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=30)


def resumed(lab: Lab, *flags: str) -> Outcome:
    return lab.run("--resume", "night", *flags, file=None)


# --retry-errors

FLAKY = """\
    - type: python
      key: flaky
      compute_scores_snippet: |
        def compute_scores(sample):
            import pathlib
            assert sample["target"] != "a4" or pathlib.Path("mended").exists()
            return {"length": len(sample["target"]), "even": sample["target"][-1] in "02468"}
      metrics: [{type: mean, field: length}, {type: mean, field: even}]
"""


def flaky_questions(count: int = 12) -> str:
    """Questions of which number 3 fails the first time it is asked."""
    return questions(count).replace("Number 3?", "FAULT=400*1 3?")


@pytest.mark.parametrize("more", ["", "  trials: {num_trials: 2}\n"], ids=["once", "two trials"])
@pytest.mark.parametrize("size", ["1", "5"])
def test_what_failed_is_done_again_and_the_rest_is_kept(lab, tmp_path, more, size):
    lab.write(qa_jsonl=flaky_questions(), task_yaml=TASK + FLAKY + more)
    first = lab.run("--run-id", "night", "--batch-size", size)
    assert first.exit_code == 3, first.stderr
    before, asked = first.run.samples(), lab.asked
    (lab.folder / "mended").touch()
    again = lab.run("--retry-errors", "night", file=None)
    assert again.exit_code == 0, again.stderr
    assert again.run_id == "night"
    failed = before["status"] != "ok"
    assert lab.asked - asked == failed.sum() > 0, "only what had failed is asked again"
    after = again.run.samples()
    pd.testing.assert_frame_equal(before[~failed], after[~failed])
    assert set(after["status"]) == {"ok"}
    scores = again.run.scores()
    assert set(scores["status"]) == {"ok"}
    assert not scores.duplicated(["scorer_key", "sample_index", "trial", "row"]).any()
    fresh = lab.run("--run-id", "night", store=tmp_path / "fresh")
    assert fresh.exit_code == 0
    assert same_metrics(again.run, fresh.run)
    assert lab.run("--retry-errors", "night", file=None).exit_code == 0, "nothing is left to do"
    assert leftovers(lab.evalmill.store) == []


def test_scores_that_stay_are_not_made_again(lab):
    counting = """\
        def compute_scores(sample):
            import pathlib
            assert sample["target"] != "a4" or pathlib.Path("mended").exists()
            with open("seen.txt", "a") as file:
                print(sample["target"], file=file)
            return {"one": 1}
"""
    scorer = (
        FLAKY.split("        def")[0] + counting + "      metrics: [{type: mean, field: one}]\n"
    )
    lab.write(qa_jsonl=questions(12), task_yaml=TASK + scorer)
    assert lab.run("--run-id", "night", "--batch-size", "12").exit_code == 3
    (lab.folder / "mended").touch()
    assert lab.run("--retry-errors", "night", file=None).exit_code == 0
    seen = (lab.folder / "seen.txt").read_text().split()
    assert sorted(seen) == sorted(f"a{number}" for number in range(12))
    assert lab.asked == 12


def test_a_retry_that_is_killed_leaves_what_fits_together(lab):
    count = 40
    hard = questions(count).replace("Number", "FAULT=400*1 Number")
    lab.write(qa_jsonl=hard)
    lab.server.reset(latency_ms=60)
    assert lab.run(*FLAGS).exit_code == 3
    killed(lab, count + 26, "--retry-errors", "night")
    ended = resumed(lab)
    assert ended.exit_code == 3, "the others still have their errors"
    samples, scores = ended.run.samples(), ended.run.scores()
    assert 0 < (samples["status"] == "ok").sum() < count
    assert list(samples["status"]) == list(scores["status"])
    again = lab.run("--retry-errors", "night", file=None)
    assert again.exit_code == 0, again.stderr
    assert lab.asked - 2 * count <= 4, "what was paid before the kill is in the ledger"


def test_scores_of_recorded_conversations_are_tried_again(lab):
    lab.write(qa_jsonl=questions(6))
    assert lab.run("--run-id", "said").exit_code == 0
    lab.write(task_yaml=TASK + FLAKY)
    arguments = ("rescore", "said", lab.folder / "run.yaml", "--run-id", "night", *ALONE)
    assert lab.evalmill(*arguments, cwd=lab.folder).exit_code == 3
    (lab.folder / "mended").touch()
    refused = lab.evalmill("rescore", "said", lab.folder / "run.yaml", "--retry-errors", "night")
    assert (refused.exit_code, "leave SOURCE and FILE out" in refused.stderr) == (2, True)
    for verb in ("rescore", "run"):
        ended = lab.evalmill(verb, "--retry-errors", "night", *ALONE, cwd=lab.folder)
        assert ended.exit_code == 0, ended.stderr
    assert lab.asked == 6


def test_flags_that_name_the_run_exclude_each_other(lab):
    refused = lab.evalmill("run", "--resume", "a", "--retry-errors", "b")
    assert refused.exit_code == 2
    assert "--resume, --retry-errors and --run-id each name the run; give one" in refused.stderr


# Two at once


def test_a_run_that_is_worked_on_is_not_resumed(lab):
    lab.server.reset(latency_ms=20_000)
    first = lab.evalmill.start("run", lab.folder / "run.yaml", *FLAGS, "-j", "1", *ALONE)
    with first:
        until(lambda: lab.asked >= 1, "a request")
        second = lab.evalmill("run", "--resume", "night", *ALONE)
        assert second.exit_code == 2
        assert f"run 'night' is being worked on by process {first.pid} on " in second.stderr
        again = lab.evalmill("run", lab.folder / "run.yaml", *FLAGS, *ALONE)
        assert again.exit_code == 2
        busy = lab.evalmill("ledger", "repair")
        assert (busy.exit_code, "the store is in use: night" in busy.stderr) == (2, True)
        assert lab.evalmill("ls", "--json").json[0]["status"] == "running"
        first.kill()
        first.communicate(timeout=30)
    assert lab.evalmill("ls", "--json").json[0]["status"] == "interrupted"
    lab.server.reset(latency_ms=0)
    assert resumed(lab).exit_code == 0, "a killed process holds nothing"
    assert leftovers(lab.evalmill.store) == []


# Killed


def test_what_a_killed_process_left_is_cleaned_up(lab):
    lab.server.reset(latency_ms=50)
    killed(lab, 7)
    lab.server.reset()
    left = folder(lab) / "samples" / "exam" / ".part-000000000-000000005.parquet.77.tmp"
    left.parent.mkdir(parents=True, exist_ok=True)
    left.write_bytes(b"half")
    assert resumed(lab).exit_code == 0
    assert leftovers(lab.evalmill.store) == []


@pytest.mark.parametrize(
    "state",
    ["complete", "metrics.parquet", "samples", "scores", "all scores", "half unified", "marker"],
)
def test_a_run_killed_at_its_end_is_finished_from_what_is_there(lab, tmp_path, state):
    lab.write(task_yaml=TASK + FLAKY.replace('!= "a4"', '!= "none"'))
    whole = lab.run(*FLAGS)
    assert whole.exit_code == 0
    kept = shutil.copytree(folder(lab), tmp_path / "whole")
    run = folder(lab)
    (run / "complete").unlink()
    match state:
        case "metrics.parquet":
            (run / "metrics.parquet").unlink()
        case "samples":
            next((run / "samples" / "exam").iterdir()).unlink()
        case "scores":
            next((run / "scores" / "exam" / "flaky").iterdir()).unlink()
        case "all scores":
            shutil.rmtree(run / "scores")
        case "half unified":
            (run / "metrics.parquet").write_bytes(b"PAR1")
        case "marker":
            (run / "complete").touch()
            (run / "metrics.parquet").unlink()
    again = resumed(lab)
    assert again.exit_code == 0, again.stderr
    assert lab.asked == 12
    left = pd.read_parquet(kept / "metrics.parquet")
    pd.testing.assert_frame_equal(left, again.run.metrics())
    assert len(again.run.samples()) == 12
    assert again.run.complete


def test_a_damaged_part_is_made_again_from_the_ledger(lab):
    whole = lab.run(*FLAGS)
    part = folder(lab) / "samples" / "exam" / "part-000000005-000000010.parquet"
    part.write_bytes(part.read_bytes()[:100])
    again = resumed(lab)
    assert again.exit_code == 0
    words = "samples/exam/part-000000005-000000010.parquet is damaged and made again"
    assert words in again.stderr
    assert again.finished.json["metrics"] == whole.finished.json["metrics"]
    assert lab.asked == 12


@pytest.mark.parametrize("kind", ["samples/exam", "scores/exam/string_equals"])
def test_a_part_of_something_else_is_made_again(lab, kind):
    import pyarrow as pa
    import pyarrow.parquet as pq

    whole = lab.run(*FLAGS)
    part = folder(lab) / kind / "part-000000005-000000010.parquet"
    pq.write_table(pa.table({"x": [1]}), part)
    again = resumed(lab)
    assert again.exit_code == 0, again.stderr
    assert f"{part.name} is damaged and made again" in again.stderr
    assert again.finished.json["metrics"] == whole.finished.json["metrics"]
    assert lab.asked == 12


def test_a_run_whose_record_is_damaged_is_told_and_the_others_are_listed(lab):
    lab.run("--run-id", "sound")
    lab.run(*FLAGS)
    (folder(lab) / "run.json").write_bytes(b"")
    listed = lab.evalmill("ls")
    assert (listed.exit_code, "sound" in listed.stdout) == (0, True)
    told = [lab.evalmill("run", "--resume", "night", *ALONE), lab.evalmill("show", "night"), listed]
    for each in told:
        assert "night/run.json: is no JSON" in each.stderr
        assert "start a new run; what this one paid for comes from the ledger" in each.stderr
        assert "Traceback" not in each.stderr
    assert lab.evalmill("show", "last").exit_code == 0
    assert lab.run("--run-id", "anew").exit_code == 0
    assert lab.asked == 12


# The ledger


def tear(path: Path) -> None:
    """Overwrite every fifth page from the second on, the root among them."""
    data = bytearray(path.read_bytes())
    noise = random.Random(0)
    for at in range(4096, len(data), 5 * 4096):
        data[at : at + 4096] = noise.randbytes(4096)
    path.write_bytes(data)


def test_a_torn_ledger_is_refused_with_the_fix_and_repaired(lab):
    lab.write(qa_jsonl=questions(200))
    assert lab.run(*FLAGS, "--batch-size", "50").exit_code == 0
    tear(lab.evalmill.store / "ledger.sqlite")
    torn = lab.run("--run-id", "next")
    assert torn.exit_code == 3
    assert json.loads(torn.finished.stdout)["status"] == "failed"
    command = "evalmill ledger repair -o "
    assert command in torn.stderr, torn.stderr
    assert lab.asked == 200, "nothing was asked without a ledger"
    repaired = lab.evalmill("ledger", "repair")
    assert repaired.exit_code == 0, repaired.stderr
    saved = int(repaired.stderr.split()[0])
    assert 100 < saved < 200
    ended = lab.run("--resume", "next", file=None)
    assert ended.exit_code == 0, ended.stderr
    assert lab.asked == 200 + (200 - saved), "what was saved is not paid again"
    assert list(lab.evalmill.store.glob("ledger.damaged-*.sqlite"))


# Disk full, read-only


def test_a_disk_that_fills_up_stops_the_run_and_spoils_nothing(lab):
    lab.write(qa_jsonl=questions(300))
    command = ["run", lab.folder / "run.yaml", *FLAGS, *ALONE]
    environment = {**os.environ, "EVALMILL_STORE": str(lab.evalmill.store)}
    ended = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -f 120; exec "$@"', "sh", *_words(command)],
        env=environment, cwd=lab.folder, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 3, ended.stderr
    assert "free disk space" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert json.loads((folder(lab) / "run.json").read_text())["status"] in ("failed", "running")
    asked = lab.asked
    assert 0 < asked < 300
    again = resumed(lab)
    assert again.exit_code == 0, again.stderr
    assert lab.asked - 300 <= 4, "replies up to the last that fitted are kept"
    assert len(again.run.samples()) == 300
    assert leftovers(lab.evalmill.store) == []


def _words(command: list[object]) -> list[str]:
    import sys

    from tests.command_line import REPOSITORY

    start = ["env", f"PYTHONPATH={REPOSITORY}", sys.executable, "-m", "flows.cli"]
    return [*start, *map(str, command)]


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of half a megabyte."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", place],
        capture_output=True,
        check=False,
    )
    if mounted.returncode:
        pytest.skip("file systems may not be mounted here")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_a_full_disk_is_told_and_the_run_goes_on_when_there_is_room(lab, small_disk):
    lab.write(qa_jsonl=questions(400))
    full = lab.run(*FLAGS, store=small_disk)
    assert full.exit_code == 3, full.stderr
    assert "free disk space" in full.stderr
    assert "Traceback" not in full.stderr
    subprocess.run(["mount", "-o", "remount,size=64m", small_disk], check=True)
    again = lab.run("--resume", "night", file=None, store=small_disk)
    assert again.exit_code == 0, again.stderr
    assert lab.asked - 400 <= 4
    assert len(again.run.samples()) == 400


def test_a_store_that_can_not_be_is_told_before_any_call(lab, tmp_path):
    (tmp_path / "file").touch()
    refused = lab.run(*FLAGS, store=tmp_path / "file")
    assert refused.exit_code == 2, refused.stderr
    assert "choose another store with --out" in refused.stderr
    assert lab.asked == 0


def test_a_read_only_store_is_told_before_any_call(lab, small_disk):
    assert lab.run(*FLAGS, "-n", "6", store=small_disk).exit_code == 0
    asked = lab.asked
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    for flags, file in ((("--resume", "night"), None), (("--run-id", "other"), "run.yaml")):
        refused = lab.run(*flags, file=file, store=small_disk)
        assert refused.exit_code == 2, refused.stderr
        assert "Read-only file system" in refused.stderr
        assert "choose another store with --out" in refused.stderr
        assert "Traceback" not in refused.stderr
    shown = lab.evalmill("show", "night", "-o", small_disk)
    assert shown.exit_code == 0, "what is there can be looked at"
    assert lab.asked == asked


# Moved, and ids that lead elsewhere


def test_a_store_that_moved_shows_resumes_and_is_scored_again(lab):
    lab.server.reset(latency_ms=40)
    killed(lab, 7)
    lab.server.reset()
    moved = lab.evalmill.store.with_name("moved")
    lab.evalmill.store.rename(moved)
    ended = lab.run("--resume", "night", file=None, store=moved)
    assert ended.exit_code == 0, ended.stderr
    assert lab.asked <= 12
    scored = ("rescore", "night", lab.folder / "run.yaml", "--run-id", "again", "-o", moved)
    assert lab.evalmill(*scored, *ALONE).exit_code == 0
    elsewhere = lab.evalmill.store.with_name("elsewhere")
    moved.rename(elsewhere)
    resumes = lab.evalmill("run", "--resume", "again", "-o", elsewhere, *ALONE)
    assert resumes.exit_code == 0, resumes.stderr
    assert lab.evalmill("show", "night", "3", "-o", elsewhere).exit_code == 0
    assert str(lab.evalmill.store) not in (elsewhere / "runs/again/run.json").read_text()


@pytest.mark.parametrize("run_id", ["../out", "/tmp/out", ".hidden", "a/b", "..", "", "a" * 201])
@pytest.mark.parametrize("flag", ["--run-id", "--resume", "--retry-errors"])
def test_a_run_id_can_not_lead_out_of_the_store(lab, run_id, flag):
    before = set(lab.evalmill.store.parent.rglob("*"))
    file = [lab.folder / "run.yaml"] if flag == "--run-id" else []
    refused = lab.evalmill("run", *file, flag, run_id, *ALONE)
    assert refused.exit_code == 2
    assert f"{flag}: '{run_id}' can't be a run id" in refused.stderr
    assert set(lab.evalmill.store.parent.rglob("*")) == before


# Odd outputs


def test_large_and_odd_replies_are_kept_as_they_are(lab):
    rows = [
        {"question": f"ANSWER={'x' * 2_000_000}", "target": "x" * 2_000_000},
        {"question": "ANSWER=nul", "target": "a\0b"},
        {"question": "ANSWER=lone", "target": "\ud800"},
    ]
    lab.write(qa_jsonl=jsonl(rows))
    ran = lab.run(*FLAGS)
    assert ran.exit_code == 0, ran.stderr
    samples = ran.run.samples()
    assert len(samples["output_text"][0]) == 2_000_000
    assert [json.loads(text)["target"] for text in samples["sample"]] == [
        row["target"] for row in rows
    ]
    assert list(ran.run.scores()["is_correct"]) == [True, False, False]
    again = lab.evalmill("rescore", "night", lab.folder / "run.yaml", "--json", *ALONE)
    assert again.json["metrics"][0]["value"] == ran.value
