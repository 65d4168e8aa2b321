import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from flows.local import LocalDriver
from tasks_lib import steps
from tasks_lib.errors import Stopped, StoreError
from tasks_lib.models.ledger import entries
from tasks_lib.plan import RunSettings
from tasks_lib.plan.planner import plan_run
from tasks_lib.resolve import Overrides, resolve
from tasks_lib.results import load_run
from tasks_lib.results.files import read_json
from tasks_lib.results.folder import parts
from tasks_lib.runs.run import Run
from tasks_lib.runs.start import start_run
from tests.engine import ASK, EQUALS, Engine, python_scorer, saying
from tests.fake_openai import RunningServer

TOGETHER = {
    "type": "python_all_samples",
    "key": "unique",
    "compute_scores_snippet": (
        "def compute_scores(samples):\n"
        "    return [{'rank': sorted(s['a'] for s in samples).index(s['a'])} for s in samples]"
    ),
    "metrics": [{"type": "mean", "field": "rank", "name": "rank"}],
}
DEFINITION = {
    "dataset": {"key": "qa"},
    "solver": ASK,
    "scorers": [EQUALS, python_scorer("def compute_scores(sample):\n    return {'one': 1}", "one")],
}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """A function that opens a run of so many samples, in batches of two."""
    engine = Engine(tmp_path)
    runs: list[Run] = []

    def open_it(samples: int = 4, *, resume: bool = False, **fields: Any) -> Run:
        data = [{"q": f"{i}?", "a": str(i % 2)} for i in range(samples)]
        model = fields.pop("model", saying(default="0"))
        file = engine.write({**DEFINITION, **fields}, data, models=[model])
        settings = RunSettings(engine.store, run_id="run-1", batch_size=2, resume=resume)
        run = start_run(*plan_run(resolve(file, Overrides()), settings))
        runs.append(run)
        return run

    yield open_it
    for run in runs:
        run.close()


def server_model(server: RunningServer, **fields: Any) -> dict[str, Any]:
    config = {
        "url": server.base_url,
        "model_key": "m",
        "adapter": {"key": "latticeflow$openai_chat_completion"},
    }
    return {"key": "lab", "display_name": "Lab", "config": config, **fields}


def batch(run: Run, number: int = 0) -> tuple[str, str, int, int]:
    return str(run.plan.run_dir), "exam", 2 * number, 2 * number + 2


def paid(run: Run) -> int:
    return len(list(entries(run.plan.settings.store, "run-1")))


def test_a_batch_is_solved_and_scored_into_parts_of_its_own(opened):
    run = opened()
    assert steps.solve_batch(*batch(run, 1)) == {"rows": 2, "ok": 2, "error": 0, "skipped": 0}
    assert steps.score_batch(*batch(run, 1)) == {"rows": 2}
    names = ["part-000000002-000000004.parquet"]
    assert [path.name for path in parts(run.folder.samples("exam"))] == names
    for scorer in ("right", "own"):
        assert [path.name for path in parts(run.folder.scores("exam", scorer))] == names
    assert run.progress.samples_done == run.progress.rows_scored == 2


def test_a_part_that_is_written_is_not_made_again(opened):
    run = opened()
    steps.solve_batch(*batch(run))
    steps.score_batch(*batch(run))
    before = {path: path.stat().st_mtime_ns for path in run.folder.path.rglob("*.parquet")}
    run.close()
    again = opened(resume=True)
    assert steps.solve_batch(*batch(again)) == {"rows": 2, "ok": 2, "error": 0, "skipped": 0}
    assert steps.score_batch(*batch(again)) == {"rows": 2}
    assert {p: p.stat().st_mtime_ns for p in run.folder.path.rglob("*.parquet")} == before
    assert again.models.totals.total == 0
    assert again.progress.samples_done == again.progress.rows_scored == 2


def test_a_lost_score_is_made_again_of_what_is_stored(opened):
    run = opened()
    steps.solve_batch(*batch(run))
    steps.score_batch(*batch(run))
    shutil.rmtree(run.folder.scores("exam", "own"))
    run.close()
    opened(resume=True)
    steps.score_batch(*batch(run))
    assert len(parts(run.folder.scores("exam", "own"))) == 1


def test_a_step_that_could_not_write_can_be_tried_again_and_pays_nothing_twice(opened):
    run = opened()
    folder = run.folder.samples("exam")
    folder.parent.mkdir()
    folder.write_text("in the way")
    with pytest.raises(StoreError, match="can't write"):
        steps.solve_batch(*batch(run))
    folder.unlink()
    assert steps.solve_batch(*batch(run))["ok"] == 2
    assert paid(run) == 2
    assert run.models.totals.from_ledger == 2


def test_scoring_before_solving_is_a_store_error(opened):
    with pytest.raises(StoreError, match=r"can't read the part: .*; resume the run"):
        steps.score_batch(*batch(opened()))


@pytest.mark.parametrize("table", ["samples", "scores"])
@pytest.mark.parametrize("damage", ["cut off", "turned bit", "empty"])
def test_a_damaged_part_is_told_and_made_again_without_a_call(opened, table, damage):
    run = opened()
    for step in (steps.solve_batch, steps.score_batch):
        step(*batch(run))
    folder = run.folder.samples("exam") if table == "samples" else run.folder.scores("exam", "own")
    (part,) = parts(folder)
    whole = part.read_bytes()
    column = pq.read_metadata(part).row_group(0).column(0)
    turned = bytearray(whole)
    turned[column.dictionary_page_offset + column.total_compressed_size - 2] ^= 64
    part.write_bytes({"cut off": whole[:-20], "turned bit": turned, "empty": b""}[damage])
    calls = paid(run)
    run.close()
    again = opened(resume=True)
    steps.solve_batch(*batch(again))
    steps.score_batch(*batch(again))
    (words,) = again.warnings
    assert words.startswith(f"{part.relative_to(run.folder.path)} is damaged and made again: can't")
    assert paid(again) == calls
    assert len(pq.read_table(part)) == 2


def test_a_part_that_is_damaged_meanwhile_is_told_with_its_place(opened):
    run = opened()
    steps.solve_batch(*batch(run))
    (part,) = parts(run.folder.samples("exam"))
    part.write_bytes(b"PAR1")
    run.solved.clear()
    with pytest.raises(StoreError, match=f"{part.name}: can't read the part"):
        steps.score_batch(*batch(run))


def test_reducing_without_scores_is_a_store_error(opened):
    run = opened()
    with pytest.raises(StoreError, match="there are no scores; resume the run"):
        steps.reduce(str(run.plan.run_dir))
    assert not run.folder.complete.exists()


def test_reduce_finishes_the_run_with_its_marker(opened):
    run = opened(scorers=[EQUALS, TOGETHER])
    for number in range(2):
        steps.solve_batch(*batch(run, number))
        steps.score_batch(*batch(run, number))
    assert steps.score_all(str(run.plan.run_dir), "exam") == {"rows": 4}
    result = steps.reduce(str(run.plan.run_dir))
    assert (result["status"], result["exit_code"]) == ("complete", 0)
    assert {row["name"]: row["value"] for row in result["metrics"]}["rank"] == 1.0
    assert run.folder.complete.exists()
    record = read_json(run.folder.run_json)
    assert record["calls"] == {
        "total": 4,
        "from_ledger": 0,
        "input_tokens": 4,
        "output_tokens": 4,
        "cost_usd": 0.0,
        "cost_without_ledger_usd": 0.0,
    }
    assert load_run(run.plan.run_dir).complete
    assert len(load_run(run.plan.run_dir).metrics()) == len(result["metrics"])


def test_rows_end_in_dataset_order_in_whatever_order_replies_come(opened, tmp_path: Path):
    """BR-089."""
    rules = [
        {"matches": r"^(\d)\?$", "reply": r"\1", "sample_id": str(i), "latency_s": (6 - i) * 0.01}
        for i in range(6)
    ]
    echo = {
        "type": "string_equals",
        "key": "right",
        "ground_truth": "{{ sample.q | replace('?', '') }}",
    }
    run = opened(6, model=saying(*rules), scorers=[echo])
    driver = LocalDriver(run)
    driver.start()
    result = driver.finish()
    assert {row["value"] for row in result["metrics"]} == {1.0}
    samples = load_run(run.plan.run_dir).samples()
    assert list(samples["sample_id"]) == list(samples["output_text"]) == list("012345")


def test_a_stopped_batch_writes_no_part_and_keeps_its_replies(opened, fake_server: RunningServer):
    fake_server.reset(latency_ms=100)
    run = opened(4, model=server_model(fake_server, max_concurrent_requests=1))
    driver = LocalDriver(run)
    driver.start()
    while fake_server.stats()["requests"] < 1:
        pass
    run.stop()
    with pytest.raises(Stopped):
        driver.wait()
    assert parts(run.folder.samples("exam")) == []
    assert paid(run) == fake_server.stats()["requests"] == 1
    run.close()
    fake_server.reset(latency_ms=0)

    again = opened(4, model=server_model(fake_server, max_concurrent_requests=1), resume=True)
    driver = LocalDriver(again)
    driver.start()
    assert driver.finish()["status"] == "complete"
    assert fake_server.stats()["requests"] == 3, "what was paid for is not asked again"


def test_a_ledger_that_fails_stops_the_run_instead_of_failing_its_samples(opened):
    run = opened()
    run.models.ledger._db.execute("DROP TABLE reply")
    with pytest.raises(StoreError, match="the ledger can't be used"):
        steps.solve_batch(*batch(run))
    assert parts(run.folder.samples("exam")) == []
