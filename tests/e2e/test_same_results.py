"""Results depend on the definitions and the replies, on nothing else."""

import pyarrow.parquet as pq
import pytest

from tests.e2e.lab import TASK, questions, same_metrics
from tests.e2e.test_resume import RANK

COUNT = 40


def tables(run):
    """Everything of a run that may not depend on how it was run, by table."""
    folders = sorted({path.parent for path in run.folder.path.rglob("part-*.parquet")})
    timing = {"started_at", "duration_s", "ledger_hits"}
    read = {}
    for folder in folders:
        table = pq.read_table(folder).sort_by("sample_index")
        kept = table.select([name for name in table.column_names if name not in timing])
        read[str(folder.relative_to(run.folder.path))] = kept.to_pylist()
    return read


@pytest.fixture
def asked(lab):
    lab.write(qa_jsonl=questions(COUNT, wrong=7), task_yaml=TASK + RANK)
    lab.server.reset(latency_ms=5, jitter=1.0)
    return lab


def test_batch_sizes_give_equal_tables(asked, tmp_path):
    """Replies come in another order each time, too: every run asks anew."""
    runs = []
    for size in ("1", "7", "1000"):
        ran = asked.run("--batch-size", size, store=tmp_path / size)
        assert ran.exit_code == 0
        runs.append(ran.run)
    assert asked.asked == 3 * COUNT
    for run in runs[1:]:
        assert same_metrics(runs[0], run)
        assert tables(runs[0]) == tables(run)


def test_faults_of_a_server_leave_no_trace_in_the_results(asked, tmp_path):
    quiet = asked.run(store=tmp_path / "quiet")
    asked.server.reset(
        fault_rate=0.2, fault_attempts=2, retry_after_s=0.05, hang_s=0.2, latency_ms=5, seed=5
    )
    stormy = asked.run(store=tmp_path / "stormy")
    faults = asked.server.stats()["faults"]
    assert sum(faults.values()) >= 6
    assert len(faults) >= 4, faults
    assert stormy.exit_code == 0, stormy.stderr
    assert same_metrics(quiet.run, stormy.run)
    assert tables(quiet.run) == tables(stormy.run)
    assert asked.asked == COUNT + sum(faults.values())
