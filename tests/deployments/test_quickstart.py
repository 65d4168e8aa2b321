"""The quickstart: a real model's recorded replies to real questions, from YAML to metrics."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.command_line import REPOSITORY, CommandLine

QUICKSTART = REPOSITORY / "deployments" / "quickstart.yaml"
RECORDING = REPOSITORY / "datasets" / "recordings" / "capitals-smollm2.jsonl"
SAMPLES = 169


def metrics(run_folder: Path) -> dict[str, float]:
    rows = pq.read_table(run_folder / "metrics.parquet").to_pylist()
    assert {row["n"] for row in rows} == {SAMPLES}
    assert {row["n_error"] for row in rows} == {0}
    return {row["name"]: row["value"] for row in rows}


def test_the_quickstart_prints_the_numbers_of_the_recorded_replies(evalmill: CommandLine):
    finished = evalmill("run", QUICKSTART, "--no-prefect", "--run-id", "quick")
    assert finished.exit_code == 0, finished.stderr
    assert re.search(r"Capital named\s+0\.408", finished.stdout)
    # All 169 replies were read by a human beside the scorer's verdicts.
    assert metrics(evalmill.store / "runs" / "quick") == pytest.approx(
        {
            "Capital named": 69 / SAMPLES,
            "Capital mentioned": 70 / SAMPLES,  # one more: "San José de Asunción"
            "outcome_right": 69 / SAMPLES,
            "outcome_wrong": 91 / SAMPLES,
            "outcome_none": 9 / SAMPLES,
            "Name alone": 0.0,
        }
    )


def test_the_recording_is_small_and_of_no_machine():
    text = RECORDING.read_text(encoding="utf-8")
    assert len(text) < 300_000
    assert text.count("\n") == SAMPLES
    assert "/root" not in text
    assert "site-packages" not in text
