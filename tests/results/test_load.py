from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from tasks_lib.errors import DefinitionError, StoreError
from tasks_lib.results import load_run
from tasks_lib.results.files import write_json
from tasks_lib.results.folder import RunFolder, part_name
from tasks_lib.results.load import StoredRun
from tasks_lib.results.parquet import write_table
from tasks_lib.results.samples import write_samples
from tasks_lib.results.score_records import score_table
from tests.results.rows import RECORD, scored

RUNNING = {"status": "running", "started_at": "2026-01-01T00:00:00.000Z"}


@pytest.fixture
def stored(tmp_path: Path) -> StoredRun:
    """A run of two specifications, written last batch first, that has not reached its end."""
    folder = RunFolder(tmp_path / "runs" / "run-1")
    write_json(
        folder.run_json,
        {**RUNNING, "specs": [{"key": "b"}, {"key": "a"}]},
    )
    for spec_key in ("b", "a"):
        for start in (2, 0):
            records = [
                replace(RECORD, spec_key=spec_key, sample_id=str(i), sample_index=i)
                for i in (start, start + 1)
            ]
            write_samples(folder.samples(spec_key) / part_name(start, start + 2), records)
            scores = [{"score": i == 0, "status": i} for i in (start, start + 1)]
            if spec_key == "a":
                scores = [{"score": "x"}, None]
            table = score_table(scored(scores, start))
            write_table(folder.scores(spec_key, "right") / part_name(start, start + 2), table)
    return load_run("run-1", tmp_path)


def test_a_run_is_found_by_id_or_folder(stored: StoredRun, tmp_path: Path):
    assert load_run(tmp_path / "runs" / "run-1").spec_keys == ["b", "a"]
    assert not stored.complete
    for wrong in ("run-2", "", ".."):
        with pytest.raises(
            DefinitionError, match=f"there is no run '{wrong}' in .*; list the runs"
        ):
            load_run(wrong, tmp_path)


def test_samples_are_in_dataset_order(stored: StoredRun):
    samples = stored.samples()
    assert list(samples["spec_key"]) == ["a"] * 4 + ["b"] * 4
    assert list(samples["sample_index"]) == [0, 1, 2, 3] * 2
    assert str(samples["started_at"].dtype) == "datetime64[us, UTC]"


def test_scores_of_one_scorer_are_in_dataset_order_also_when_their_parts_differ(stored: StoredRun):
    scores = stored.scores("right")
    assert list(scores["spec_key"]) == ["b"] * 4 + ["a"] * 4
    assert list(scores["sample_index"]) == [0, 1, 2, 3] * 2
    assert list(scores["score"][:4]) == [True, False, False, False]
    assert stored.scores().equals(scores)
    with pytest.raises(StoreError, match="the run has no scorer 'wrong'; its scorers: right"):
        stored.scores("wrong")


def test_wide_has_a_row_per_sample_with_every_score(stored: StoredRun):
    wide = stored.wide()
    assert len(wide) == 8
    of_b = wide[wide["spec_key"] == "b"]
    assert list(of_b["right.score"]) == [True, False, False, False]
    assert list(of_b["right.status"]) == ["ok"] * 4
    assert list(of_b["right.score.status"]) == [0, 1, 2, 3], "a score called like a column of ours"
    of_a = wide[wide["spec_key"] == "a"]
    assert list(of_a["right.score"].isna()) == [False, True, False, True]
    assert of_a["right.score.status"].isna().all()


def test_metrics_are_there_when_the_run_has_ended(stored: StoredRun):
    with pytest.raises(StoreError, match="has no metrics yet; finish it with: evalmill"):
        stored.metrics()
    write_table(stored.folder.metrics, score_table(scored([{"value": 1}])))
    assert isinstance(stored.metrics(), pd.DataFrame)


def test_a_run_without_samples_or_scores(tmp_path: Path):
    write_json(
        tmp_path / "runs" / "run-1" / "run.json",
        {**RUNNING, "specs": [{"key": "a"}]},
    )
    run = load_run("run-1", tmp_path)
    assert len(run.samples()) == 0
    assert len(run.wide()) == 0
    with pytest.raises(StoreError, match="the run has no scores; its scorers: none"):
        run.scores()
