import asyncio
import itertools
import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks_lib.errors import StoreError
from tasks_lib.models.call_id import CallId
from tasks_lib.models.ledger import CachePolicy, Entry, Ledger, call_key, entries
from tasks_lib.models.ledger.file import ledger_path

REPOSITORY = Path(__file__).parents[3]


CALL = CallId("spec", "solver", "1", 0, 0)


def entry(
    key: bytes = b"k",
    body: bytes = b"reply",
    created: float = 1.0,
    request: bytes = b"request",
    **call: Any,
) -> Entry:
    return Entry(key, CALL._replace(**call), "lab", created, 0.5, request, body)


def record(store: Path, *rows: Entry, run_id: str = "run-1") -> None:
    async def put_all() -> None:
        ledger = Ledger(store, run_id, "reuse")
        await asyncio.gather(*(ledger.put(row) for row in rows))
        ledger.close()

    asyncio.run(put_all())


def found(store: Path, key: bytes = b"k", run_id: str = "run-1", policy: CachePolicy = "reuse"):
    ledger = Ledger(store, run_id, policy)
    try:
        return ledger.get(key)
    finally:
        ledger.close()


# keys


def key_of(endpoint: str = "http://h m", request: bytes = b"{}", **call: Any) -> bytes:
    return call_key(CALL._replace(**call), endpoint, request)


@pytest.mark.parametrize(
    "change",
    [
        {"spec_key": "other"},
        {"caller": "scorer:judge"},
        {"endpoint": "http://h m2"},
        {"request": b"{ }"},
        pytest.param({"sample_id": "2"}, id="BR-077: another sample"),
        pytest.param({"trial": 1}, id="BR-068: another trial"),
        {"ordinal": 1},
    ],
)
def test_every_part_of_a_call_makes_another_key(change: dict[str, object]):
    assert key_of(**change) != key_of()


def test_parts_can_not_flow_into_each_other():
    texts = ("spec_key", "caller", "endpoint", "sample_id")
    keys = {
        key_of(**{one: "ab", other: "c"}) for one, other in itertools.permutations(texts, 2)
    } | {key_of(**{one: "a", other: "bc"}) for one, other in itertools.permutations(texts, 2)}
    assert len(keys) == 24
    assert key_of(trial=1, ordinal=12) != key_of(trial=11, ordinal=2)


@given(st.text(st.characters()))
def test_any_text_makes_a_key_of_sixteen_bytes(text: str):
    assert len(key_of(sample_id=text, spec_key=text)) == 16


# reading by policy


@pytest.mark.parametrize(
    ("policy", "same_run", "other_run"),
    [("reuse", b"reply", b"reply"), ("update", b"reply", None), ("no-cache", None, None)],
)
def test_the_policy_says_whose_replies_are_read(
    tmp_path: Path, policy: CachePolicy, same_run: bytes | None, other_run: bytes | None
):
    record(tmp_path, entry(), run_id="run-1")
    assert found(tmp_path, run_id="run-1", policy=policy) == same_run
    assert found(tmp_path, run_id="run-2", policy=policy) == other_run
    assert found(tmp_path, b"unknown") is None


def test_the_newest_reply_is_read_but_a_run_keeps_to_its_own(tmp_path: Path):
    for run_id, created in [("run-1", 1.0), ("run-2", 3.0), ("run-3", 2.0)]:
        record(tmp_path, entry(body=run_id.encode(), created=created), run_id=run_id)
    assert found(tmp_path, run_id="run-9") == b"run-2"
    assert found(tmp_path, run_id="run-1") == b"run-1"


def test_a_call_that_is_recorded_again_replaces_itself(tmp_path: Path):
    record(tmp_path, entry(body=b"old"))
    record(tmp_path, entry(body=b"new"))
    assert found(tmp_path) == b"new"
    assert [row.body for row in entries(tmp_path, "run-1")] == [b"new"]


@given(st.binary())
def test_any_bytes_come_back_as_they_were(tmp_path_factory: pytest.TempPathFactory, body: bytes):
    store = tmp_path_factory.mktemp("store")
    record(store, entry(body=body, request=body))
    assert found(store) == body
    assert next(entries(store, "run-1")).request == body


# durability


def test_a_reply_is_durable_before_the_call_returns(tmp_path: Path):
    script = f"""
import asyncio, os
from pathlib import Path
from tasks_lib.models.ledger import Ledger
from tests.models.ledger.test_ledger import entry

async def main():
    ledger = Ledger(Path({str(tmp_path)!r}), "run-1", "reuse")
    await asyncio.gather(*(ledger.put(entry(b"%d" % i)) for i in range(100)))
    os.kill(os.getpid(), 9)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=REPOSITORY, check=False)
    assert done.returncode == -9
    assert len(list(entries(tmp_path, "run-1"))) == 100


def test_replies_of_one_turn_of_the_loop_are_committed_together(tmp_path: Path):
    async def main() -> list[str]:
        statements: list[str] = []
        ledger = Ledger(tmp_path, "run-1", "reuse")
        ledger._db.set_trace_callback(statements.append)
        await asyncio.gather(*(ledger.put(entry(b"%d" % i)) for i in range(50)))
        ledger.close()
        return statements

    assert sum(words == "COMMIT" for words in asyncio.run(main())) == 1


def test_closing_commits_what_is_pending(tmp_path: Path):
    async def main() -> None:
        ledger = Ledger(tmp_path, "run-1", "reuse")
        waiting = asyncio.ensure_future(ledger.put(entry()))
        await asyncio.sleep(0)
        ledger.close()
        await waiting

    asyncio.run(main())
    assert found(tmp_path) == b"reply"


def test_a_cancelled_call_takes_no_other_with_it(tmp_path: Path):
    async def main() -> None:
        ledger = Ledger(tmp_path, "run-1", "reuse")
        calls = [asyncio.ensure_future(ledger.put(entry(b"%d" % i))) for i in range(3)]
        await asyncio.sleep(0)
        calls[0].cancel()
        ends = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(end) for end in ends] == [asyncio.CancelledError, type(None), type(None)]
        ledger.close()

    asyncio.run(main())
    assert found(tmp_path, b"0") == b"reply", "it is paid for, whoever still waits"


def test_several_processes_write_one_ledger_at_once(tmp_path: Path):
    script = """
import asyncio, sys
from pathlib import Path
from tasks_lib.models.ledger import Ledger
from tests.models.ledger.test_ledger import entry

async def main(store, run_id):
    ledger = Ledger(Path(store), run_id, "reuse")
    for i in range(40):
        await asyncio.gather(*(ledger.put(entry(b"%d %d" % (i, j))) for j in range(5)))
        ledger.get(b"0 0")
    ledger.close()

asyncio.run(main(*sys.argv[1:]))
"""
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(tmp_path), f"run-{i}"], cwd=REPOSITORY)
        for i in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert [len(list(entries(tmp_path, f"run-{i}"))) for i in range(4)] == [200] * 4


def test_a_commit_waits_for_another_process_without_stopping_the_loop(tmp_path: Path):
    async def main() -> int:
        ledger = Ledger(tmp_path, "run-1", "reuse")
        other = sqlite3.connect(ledger_path(tmp_path), isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        waiting = asyncio.ensure_future(ledger.put(entry()))
        turns = 0
        while turns < 20:
            await asyncio.sleep(0.005)
            turns += 1
        assert not waiting.done()
        other.execute("ROLLBACK")
        other.close()
        await waiting
        ledger.close()
        return turns

    assert asyncio.run(main()) == 20
    assert found(tmp_path) == b"reply"


# what can't be used


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"id,question\n1,what?\n" * 100, id="another kind of file"),
        pytest.param(b"SQLite format 3\0" + b"\xff" * 8000, id="damaged"),
    ],
)
def test_a_file_that_is_no_ledger_is_a_store_error(tmp_path: Path, content: bytes):
    ledger_path(tmp_path).write_bytes(content)
    with pytest.raises(
        StoreError, match=r"ledger\.sqlite: the ledger can't be used: .*; (save|free)"
    ):
        Ledger(tmp_path, "run-1", "reuse")
    with pytest.raises(StoreError):
        list(entries(tmp_path, "run-1"))
    assert ledger_path(tmp_path).read_bytes() == content


def test_a_database_of_something_else_is_a_store_error(tmp_path: Path):
    with sqlite3.connect(ledger_path(tmp_path)) as other:
        other.execute("CREATE TABLE reply (id INTEGER)")
    other.close()
    with pytest.raises(StoreError, match="no such column"):
        Ledger(tmp_path, "run-1", "reuse")


def test_a_torn_ledger_is_a_store_error(tmp_path: Path):
    record(tmp_path, *(entry(b"%d" % i, body=b"x" * 5000) for i in range(100)))
    file = ledger_path(tmp_path)
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    with pytest.raises(StoreError, match="the ledger can't be used"):
        [found(tmp_path, b"%d" % i) for i in range(100)]


def test_a_store_that_is_not_there_is_a_store_error(tmp_path: Path):
    with pytest.raises(StoreError, match="unable to open"):
        Ledger(tmp_path / "missing", "run-1", "reuse")
    with pytest.raises(StoreError, match="has no ledger; name the store with --out"):
        list(entries(tmp_path / "missing", "run-1"))


def test_a_full_disk_fails_the_calls_that_wait_and_spoils_nothing(tmp_path: Path):
    script = f"""
import asyncio, json, resource
from pathlib import Path
from tasks_lib.errors import StoreError
from tasks_lib.models.ledger import Ledger
from tests.models.ledger.test_ledger import entry

async def main():
    ledger = Ledger(Path({str(tmp_path)!r}), "run-1", "reuse")
    await ledger.put(entry(b"before"))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    calls = [ledger.put(entry(b"%d" % i, body=b"x" * 100_000)) for i in range(10)]
    ends = await asyncio.gather(*calls, return_exceptions=True)
    print(json.dumps([type(end).__name__ for end in ends] + [str(ends[0])]))
    print(ledger.get(b"before").decode())

asyncio.run(main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=REPOSITORY, check=True, capture_output=True, text=True
    )
    told, before = done.stdout.splitlines()
    *kinds, words = json.loads(told)
    assert kinds == ["StoreError"] * 10
    assert "free disk space" in words
    assert before == "reply"
    assert [row.key for row in entries(tmp_path, "run-1")] == [b"before"]


def test_after_a_failure_the_next_call_is_tried_afresh(tmp_path: Path):
    async def main() -> None:
        ledger = Ledger(tmp_path, "run-1", "reuse")
        ledger._db.execute("ALTER TABLE reply RENAME TO gone")
        with pytest.raises(StoreError, match="no such table"):
            await ledger.put(entry(b"1"))
        ledger._db.execute("ALTER TABLE gone RENAME TO reply")
        await ledger.put(entry(b"2"))
        ledger.close()

    asyncio.run(main())
    assert (found(tmp_path, b"1"), found(tmp_path, b"2")) == (None, b"reply")


# export


def test_entries_are_those_of_one_run_in_the_order_of_its_samples(tmp_path: Path):
    rows = [
        entry(b"1", sample_id="b", created=1.0),
        entry(b"2", sample_id="a", created=3.0),
        entry(b"3", sample_id="a", created=2.0),
        entry(b"4", sample_id="a", trial=1, created=0.0),
    ]
    record(tmp_path, *rows)
    record(tmp_path, entry(b"9"), run_id="run-2")
    assert [row.key for row in entries(tmp_path, "run-1")] == [b"3", b"2", b"4", b"1"]
    assert next(entries(tmp_path, "run-1")) == rows[2]


def test_a_store_may_have_any_name(tmp_path: Path):
    store = tmp_path / "100% für #1?mode=x"
    store.mkdir()
    record(store, entry(sample_id="half \ud800"))
    (row,) = entries(store, "run-1")
    assert row.call.sample_id == "half \ufffd"
